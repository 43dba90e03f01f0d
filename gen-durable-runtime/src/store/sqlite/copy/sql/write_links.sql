-- Sets a parent, once all instances stand. ?1 child  ?2 its parent
UPDATE gen_durable SET parent_id = ?2 WHERE id = ?1
