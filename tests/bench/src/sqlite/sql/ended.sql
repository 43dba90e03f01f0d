-- How many have ended.
SELECT count(*) FROM gen_durable WHERE status IN ('done', 'failed')
