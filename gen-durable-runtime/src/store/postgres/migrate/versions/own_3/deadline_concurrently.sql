-- Instances whose time is up, built while others write: for a large table, outside a transaction.
CREATE INDEX CONCURRENTLY gen_durable_deadline ON {schema}.gen_durable (deadline_at) WHERE deadline_at IS NOT NULL
