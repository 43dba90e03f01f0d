-- An empty database for the next history; its ids go on.
TRUNCATE gen_durable, signals, gen_durable_history
