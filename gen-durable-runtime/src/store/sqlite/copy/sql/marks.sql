-- The highest ids ever given, also to rows that went, of gen_durable and of signals.
SELECT max(coalesce((SELECT max(id) FROM gen_durable), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'gen_durable'), 0)),
       max(coalesce((SELECT max(id) FROM signals), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'signals'), 0))
