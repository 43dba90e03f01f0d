-- How many have ended so far.
SELECT count(*) AS bench_all_done FROM gen_durable WHERE status = 'done'
