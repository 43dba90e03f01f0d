-- The version of our part.
SELECT version, oldest_code FROM {schema}.gen_durable_meta
