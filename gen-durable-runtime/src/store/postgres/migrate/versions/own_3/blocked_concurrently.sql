-- Rows that were set aside, in the order in which they go on, built while others write: for a large table, outside a transaction.
CREATE INDEX CONCURRENTLY gen_durable_blocked ON {schema}.gen_durable (blocked_by, priority, due_at) WHERE blocked_by IS NOT NULL
