-- Claims whose lease is not over, and the microseconds until the last of them is. Index: gen_durable_lease.
SELECT count(*), coalesce((extract(epoch FROM least(max(lease_expires_at), now() + interval '1 year') - now()) * 1000000)::bigint, 0)
FROM {schema}.gen_durable WHERE status = 'executing' AND lease_expires_at > now()
