-- When the next slot of one of these machines comes, and whether there is any schedule at all.
-- Index: gen_durable_schedules_next, for each machine. ?1 machines as JSON  ?2 now
SELECT EXISTS (SELECT 1 FROM gen_durable_schedules AS one) AS some,
  (SELECT min(s.next_at) FROM gen_durable_schedules AS s
   WHERE s.fsm IN (SELECT value FROM json_each(?1)) AND s.paused_at IS NULL AND s.next_at IS NOT NULL AND s.next_at > ?2
     AND s.next_at < 9223372036854775807) - ?2
    AS until_us
