-- Lifts the time limits of role and database from this transaction ($2 true) or session, and bounds the wait
-- for a lock to $1 milliseconds (0: none). Only settings this server knows.
SELECT pg_catalog.set_config(s.name, CASE s.name WHEN 'lock_timeout' THEN $1 ELSE '0' END, $2)
FROM pg_catalog.pg_settings AS s
WHERE s.name IN ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
