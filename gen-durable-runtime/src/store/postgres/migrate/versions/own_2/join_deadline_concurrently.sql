-- Joins whose time is up, built while others write: for a large table, outside a transaction.
CREATE INDEX CONCURRENTLY gen_durable_join_deadline ON {schema}.gen_durable (await_deadline)
  WHERE status = 'awaiting_children' AND await_deadline IS NOT NULL
