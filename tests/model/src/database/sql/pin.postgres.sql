-- Sets the moments of instances. $1 JSON: objects of an id and its moments in microseconds. Index: the primary key.
-- By hours and the rest: an interval times a number goes by way of a double, which lacks microseconds in year 9999.
UPDATE gen_durable g
SET eligible_at = timestamptz 'epoch' + p.eligible / 3600000000 * interval '1 hour'
      + p.eligible % 3600000000 * interval '1 microsecond',
    await_deadline = timestamptz 'epoch' + p.deadline / 3600000000 * interval '1 hour'
      + p.deadline % 3600000000 * interval '1 microsecond',
    lease_expires_at = timestamptz 'epoch' + p.lease / 3600000000 * interval '1 hour'
      + p.lease % 3600000000 * interval '1 microsecond',
    updated_at = timestamptz 'epoch' + p.updated / 3600000000 * interval '1 hour'
      + p.updated % 3600000000 * interval '1 microsecond',
    inserted_at = timestamptz 'epoch' + p.inserted / 3600000000 * interval '1 hour'
      + p.inserted % 3600000000 * interval '1 microsecond'
FROM json_to_recordset($1::json)
  AS p(id bigint, eligible bigint, deadline bigint, lease bigint, updated bigint, inserted bigint)
WHERE g.id = p.id
