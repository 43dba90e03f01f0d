-- Sets the moments of instances. $1 JSON: objects of an id and its moments in microseconds. Index: the primary key.
UPDATE gen_durable g
SET eligible_at = timestamptz 'epoch' + p.eligible * interval '1 microsecond',
    await_deadline = timestamptz 'epoch' + p.deadline * interval '1 microsecond',
    lease_expires_at = timestamptz 'epoch' + p.lease * interval '1 microsecond',
    updated_at = timestamptz 'epoch' + p.updated * interval '1 microsecond',
    inserted_at = timestamptz 'epoch' + p.inserted * interval '1 microsecond'
FROM json_to_recordset($1::json)
  AS p(id bigint, eligible bigint, deadline bigint, lease bigint, updated bigint, inserted bigint)
WHERE g.id = p.id
