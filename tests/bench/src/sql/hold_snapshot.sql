-- An old transaction: what dies after it cannot go.
BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM gen_durable
