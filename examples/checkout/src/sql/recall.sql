-- Calls an order's parcels back. Index: carrier_parcels_order.
UPDATE carrier_parcels SET recalled = true WHERE order_id = $1
