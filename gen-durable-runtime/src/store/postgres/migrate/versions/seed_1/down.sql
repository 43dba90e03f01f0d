-- Takes version 1 of the seed away, rows and all. Each name is one that `up` made; what the host made on top
-- of them (a view, a foreign key) makes this fail instead of going with it.
DROP TABLE {schema}.gen_durable_concurrency_buckets
-- ;;
DROP TABLE {schema}.gen_durable_concurrency_configs
-- ;;
DROP TABLE {schema}.gen_durable_rate_buckets
-- ;;
DROP TABLE {schema}.gen_durable_rate_configs
-- ;;
DROP TABLE {schema}.signals
-- ;;
DROP TABLE {schema}.gen_durable
-- ;;
DROP TYPE {schema}.durable_status
