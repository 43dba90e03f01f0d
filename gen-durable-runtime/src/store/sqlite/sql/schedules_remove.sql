-- Removes a schedule, only as it was read. Its instances stay. Index: the primary key. ?1 name  ?2 revision
DELETE FROM gen_durable_schedules WHERE name = ?1 AND revision = ?2 RETURNING name
