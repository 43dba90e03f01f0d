-- Joins whose time is up, built inside the version's transaction: for a small table.
CREATE INDEX gen_durable_join_deadline ON {schema}.gen_durable (await_deadline)
  WHERE status = 'awaiting_children' AND await_deadline IS NOT NULL
