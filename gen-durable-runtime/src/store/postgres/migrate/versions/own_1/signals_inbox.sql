-- The live inbox in order of arrival, built inside the version's transaction: for a small table.
CREATE INDEX signals_inbox ON {schema}.signals (target_id, id) WHERE consumed_at IS NULL
