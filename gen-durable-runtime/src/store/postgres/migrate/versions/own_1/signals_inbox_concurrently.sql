-- The live inbox in order of arrival, built while others write: for a large table, outside a transaction.
CREATE INDEX CONCURRENTLY signals_inbox ON {schema}.signals (target_id, id) WHERE consumed_at IS NULL
