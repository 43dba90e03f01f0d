-- Books a parcel; a key that was seen before keeps its own. Index: the primary key.
-- $1 key  $2 order  $3 tracking
INSERT INTO carrier_parcels (key, order_id, tracking) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING
