-- What became of callers' own transactions. $1 their ids
SELECT x AS xid, pg_xact_status(x::xid8) AS status FROM unnest($1::text[]) AS x
