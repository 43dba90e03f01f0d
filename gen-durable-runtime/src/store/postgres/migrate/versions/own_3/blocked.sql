-- Rows that were set aside, in the order in which they go on, built inside the version's transaction: for a small table.
CREATE INDEX gen_durable_blocked ON {schema}.gen_durable (blocked_by, priority, due_at) WHERE blocked_by IS NOT NULL
