-- Takes all table locks of a migration before its first change, in the order in which workers take them. A wait
-- for them is bounded by lock_timeout: everyone else queues behind it.
LOCK TABLE {schema}.gen_durable, {schema}.signals IN ACCESS EXCLUSIVE MODE
