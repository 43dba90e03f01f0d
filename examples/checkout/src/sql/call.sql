-- Notes a call before it is answered; how many there were for this order before. Index: carrier_calls_order.
-- $1 order  $2 key
INSERT INTO carrier_calls (order_id, key) VALUES ($1, $2)
RETURNING id, (
  SELECT count(*) FROM carrier_calls AS earlier WHERE earlier.order_id = $1 AND earlier.id < carrier_calls.id
)
