-- Claims whose lease is not over at ?1, and the microseconds until the last of them is. Index: gen_durable_lease.
SELECT count(*), coalesce(max(lease_expires_at) - ?1, 0)
FROM gen_durable WHERE status = 'executing' AND lease_expires_at > ?1
