-- Notes how a call went; the tracking number of its key's parcel. Index: the primary keys.
-- $1 call  $2 answer
UPDATE carrier_calls SET answer = $2 WHERE id = $1
RETURNING (SELECT tracking FROM carrier_parcels WHERE carrier_parcels.key = carrier_calls.key)
