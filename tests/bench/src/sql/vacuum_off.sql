-- From now on nothing dead goes.
ALTER TABLE gen_durable SET (autovacuum_enabled = off)
