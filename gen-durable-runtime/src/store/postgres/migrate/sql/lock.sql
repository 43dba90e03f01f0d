-- One migrator per schema. Never a blocking wait: it would hold a snapshot that a concurrent index build of the
-- other migrator waits for. The lock ends with the transaction, so that it outlives neither a killed migrator
-- nor, behind a transaction pooler, its work.
SELECT pg_catalog.pg_try_advisory_xact_lock(1734700644, pg_catalog.hashtext($1))
