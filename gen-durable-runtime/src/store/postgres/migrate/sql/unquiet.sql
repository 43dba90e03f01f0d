-- Undoes `quiet` for a session.
SELECT pg_catalog.set_config(s.name, s.reset_val, false)
FROM pg_catalog.pg_settings AS s
WHERE s.name IN ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
