-- Whether this one has ended. $1 id
SELECT count(*) FROM gen_durable WHERE id = $1 AND status = 'done'
