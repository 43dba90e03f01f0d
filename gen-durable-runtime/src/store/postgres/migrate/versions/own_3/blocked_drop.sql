-- Takes away what a failed concurrent build left behind, INVALID.
DROP INDEX CONCURRENTLY {schema}.gen_durable_blocked
