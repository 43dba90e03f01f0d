-- Newer servers have a limit on whole transactions; lifted where it is known.
SELECT pg_catalog.set_config(name, '0', true) FROM pg_catalog.pg_settings WHERE name = 'transaction_timeout'
