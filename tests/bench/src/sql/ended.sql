-- How many have ended, counted up to $1.
SELECT count(*) FROM (SELECT FROM gen_durable WHERE status = 'done' LIMIT $1) d
