SELECT count(*) FROM gen_durable WHERE id = $1 AND status = 'done'
