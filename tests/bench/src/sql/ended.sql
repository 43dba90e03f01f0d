SELECT count(*) FROM (SELECT FROM gen_durable WHERE status = 'done' LIMIT $1) d
