-- One worker at a time makes the tables. Let go at the end of the transaction.
SELECT pg_advisory_xact_lock(hashtext('checkout.tables'))
