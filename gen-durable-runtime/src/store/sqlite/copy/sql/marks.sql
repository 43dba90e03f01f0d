-- The highest ids ever given, also to rows that went, of gen_durable, of signals and of history.
SELECT max(coalesce((SELECT max(id) FROM gen_durable), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'gen_durable'), 0)),
       max(coalesce((SELECT max(id) FROM signals), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'signals'), 0)),
       max(coalesce((SELECT max(id) FROM gen_durable_history), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'gen_durable_history'), 0))
