-- How many have ended, counted up to $1.
SELECT count(*) AS bench_ended FROM (SELECT FROM gen_durable WHERE status = 'done' LIMIT $1) d
