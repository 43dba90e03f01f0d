-- Index: the primary key.
-- $1 order  $2 event  $3 payment
UPDATE orders SET state = 'paid', event = $2, payment = $3 WHERE id = $1
