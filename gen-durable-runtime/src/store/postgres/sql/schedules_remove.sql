-- Removes a schedule, only as it was read. Its instances stay. Index: the primary key. $1 name  $2 revision
DELETE FROM {schema}.gen_durable_schedules s WHERE s.name = $1 AND s.revision = $2 RETURNING s.name
