-- Sets the moments of instances. $1 JSON: objects of an id and its moments in microseconds. Index: the primary key.
UPDATE gen_durable
SET eligible_at = p.value ->> 'eligible',
    await_deadline = p.value ->> 'deadline',
    lease_expires_at = p.value ->> 'lease',
    updated_at = p.value ->> 'updated',
    inserted_at = p.value ->> 'inserted'
FROM json_each($1) p
WHERE gen_durable.id = p.value ->> 'id'
