-- Workers that were not seen for a day go. A table of a few rows. ?1 now
DELETE FROM gen_durable_workers WHERE seen_at < ?1 - 86400000000
