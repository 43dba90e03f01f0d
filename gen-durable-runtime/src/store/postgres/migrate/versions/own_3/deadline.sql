-- Instances whose time is up, built inside the version's transaction: for a small table.
CREATE INDEX gen_durable_deadline ON {schema}.gen_durable (deadline_at) WHERE deadline_at IS NOT NULL
