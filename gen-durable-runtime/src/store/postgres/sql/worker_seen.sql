-- Says that a worker lives. No row: it is to say anew what it knows. Index: the primary key. $1 name
UPDATE {schema}.gen_durable_workers SET seen_at = now() WHERE name = $1 RETURNING name
