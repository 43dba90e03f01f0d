-- Where such a clock begins: no row of the transaction is later.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
