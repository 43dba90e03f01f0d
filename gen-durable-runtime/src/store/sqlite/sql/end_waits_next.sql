-- When the next wait ends, so that whoever ends waits need not be told by anyone.
-- Index: gen_durable_await_deadline. ?1 now
SELECT g.await_deadline - ?1 AS next_us FROM gen_durable g
WHERE g.status = 'awaiting_signal' AND g.await_deadline > ?1 AND g.await_deadline < 9223372036854775807
ORDER BY g.await_deadline LIMIT 1
