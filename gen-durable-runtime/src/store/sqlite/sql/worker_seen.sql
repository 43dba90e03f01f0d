-- Says that a worker lives. No row: it is to say anew what it knows. Index: the primary key. ?1 name  ?2 now
UPDATE gen_durable_workers SET seen_at = ?2 WHERE name = ?1 RETURNING name
