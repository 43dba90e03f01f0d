-- Whether this one has ended. $1 id
SELECT count(*) AS bench_done FROM gen_durable WHERE id = $1 AND status = 'done'
