-- Inserts instances; answers for each input, in order: the new id, or the occupant of its business key.
--
-- The ids are drawn first, so that input and row can be matched. One whose key is taken by a transaction that this
-- snapshot cannot see has neither: ask again.
-- Index: gen_durable_correlation, unique: of two starts of one key one wins.
--
-- $1 machines  $2 versions  $3 steps  $4 states  $5 carries  $6 keys  $7 key kept after the end  $8 queues
-- $9 priorities  $10 own queues  $11 own priorities  $12 microseconds until due  $13 timer at, microseconds of the
-- epoch  $14 awaited names, an array each as text  $15 microseconds until the wait ends  $16 wait ends at
-- $17 concurrency keys  $18 the table's quoted name  $19 await_mode  $20 await_need  $21 await_groups, an array each
-- as text  $22 parents  $23 their rounds  $24 places in the fan-out  $25 shielded
-- $26 microseconds from due to the deadline  $27 the deadline leaves the step  $28 signals that leave it, an array each as text
-- $29 rate limit keys  $30 what they take
WITH ids AS MATERIALIZED (
  SELECT pg_get_serial_sequence($18, 'id')::regclass AS source
), input AS MATERIALIZED (
  SELECT i.*, nextval((SELECT source FROM ids)) AS id
  FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::text[],
    $9::smallint[], $10::text[], $11::smallint[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[],
    $16::bigint[], $17::text[], $19::smallint[], $20::int[], $21::text[], $22::bigint[], $23::bigint[], $24::int[],
    $25::boolean[], $26::bigint[], $27::boolean[], $28::text[], $29::text[],
    $30::float8[])
    WITH ORDINALITY
  AS i(fsm, version, step, state, carry, key, kept, queue, priority, home_queue, home_priority, after_us, at_us,
    awaits, wait_us, wait_at_us, concurrency_key, await_mode, await_need, await_groups, parent, round, child_index, shielded, deadline_us, expires, exit_signals,
    rate_limit, weight, ord)
), made AS (
  INSERT INTO {schema}.gen_durable (id, fsm, fsm_version, step, status, state, carry, awaits, queue, priority,
    home_queue, home_priority, concurrency_key, eligible_at, await_deadline, correlation_key, correlation_scope,
    await_mode, await_need, await_groups, parent_id, parent_round, child_index, shielded, deadline_at, expires, exit_signals,
    rate_limit, weight)
  OVERRIDING SYSTEM VALUE
  SELECT i.id, i.fsm, i.version, i.step,
    (CASE WHEN i.awaits IS NOT NULL AND i.after_us = 0 THEN 'awaiting_signal' ELSE 'runnable' END)::{schema}.durable_status,
    i.state::jsonb, i.carry::jsonb, i.awaits::text[], i.queue, i.priority, i.home_queue, i.home_priority,
    i.concurrency_key,
    greatest(coalesce(to_timestamp(i.at_us / 1000000.0), now()), now() + i.after_us * interval '1 microsecond'),
    CASE WHEN i.awaits IS NOT NULL THEN
      coalesce(to_timestamp(i.wait_at_us / 1000000.0), now() + (i.after_us + i.wait_us) * interval '1 microsecond') END,
    i.key,
    CASE WHEN i.key IS NULL THEN '{}'
         WHEN i.kept THEN enum_range(NULL::{schema}.durable_status)
         ELSE enum_range('runnable'::{schema}.durable_status, 'awaiting_children'::{schema}.durable_status) END,
    i.await_mode, i.await_need, i.await_groups::bigint[], i.parent, i.round, i.child_index, i.shielded,
    greatest(coalesce(to_timestamp(i.at_us / 1000000.0), now()), now() + i.after_us * interval '1 microsecond')
      + i.deadline_us * interval '1 microsecond', i.expires, i.exit_signals::text[], i.rate_limit, coalesce(i.weight, 1)
  FROM input i ORDER BY i.key COLLATE "C" NULLS FIRST, i.ord
  ON CONFLICT (correlation_guard) WHERE correlation_guard IS NOT NULL DO NOTHING
  RETURNING id, correlation_key
)
-- A hashed IN: a join of two batches whose size the planner does not know costs their product.
SELECT array_agg(o.new_id ORDER BY o.ord) AS new_ids,
  array_agg(CASE WHEN o.new_id IS NULL THEN coalesce(
    (SELECT t.id FROM made t WHERE t.correlation_key = o.key),
    (SELECT g.id FROM {schema}.gen_durable g WHERE g.correlation_guard = o.key)) END ORDER BY o.ord) AS occupants,
  pg_current_xact_id()::text AS xid
FROM (SELECT i.ord, i.key, CASE WHEN i.key IS NULL OR i.id IN (SELECT made.id FROM made) THEN i.id END AS new_id
      FROM input i) o
