-- A worker has stopped. Index: the primary key. $1 name
DELETE FROM {schema}.gen_durable_workers WHERE name = $1
