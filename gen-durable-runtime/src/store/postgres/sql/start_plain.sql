-- start.sql for instances that differ in nothing but their data, are due at once and have no key, wait, limit, deadline or parent: the
-- rows that they leave are those that start.sql would.
--
-- $1 machine  $2 version  $3 step  $4 states  $5 carries  $6 queue  $7 priority  $8 own queue  $9 own priority
-- $10 the table's quoted name
WITH ids AS MATERIALIZED (
  SELECT pg_get_serial_sequence($10, 'id')::regclass AS source
), input AS MATERIALIZED (
  SELECT i.state, i.carry, i.ord, nextval((SELECT source FROM ids)) AS id
  FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS i(state, carry, ord)
), made AS (
  INSERT INTO {schema}.gen_durable (id, fsm, fsm_version, step, state, carry, queue, priority, home_queue, home_priority,
    eligible_at, correlation_scope)
  OVERRIDING SYSTEM VALUE
  SELECT i.id, $1, $2, $3, i.state::jsonb, i.carry::jsonb, $6, $7, $8, $9, now(), '{}'
  FROM input i ORDER BY i.ord
)
SELECT array_agg(i.id ORDER BY i.ord) AS new_ids, pg_current_xact_id()::text AS xid FROM input i
