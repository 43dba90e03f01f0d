-- Where the clock of a test stands that has lent its transaction. $1 the time
SELECT set_config('gen_durable.now', $1, true)
