-- Totals: the carrier's calls, and where every piece is.
SELECT
  (SELECT count(*) FROM carrier_calls) AS calls,
  (SELECT count(*) FROM carrier_calls WHERE answer <> 'booked') AS failed_calls,
  (SELECT coalesce(sum(available), 0)::bigint FROM shop_stock) AS left,
  (SELECT coalesce(sum(pieces), 0)::bigint FROM shop_holds WHERE state = 'held') AS held,
  (SELECT coalesce(sum(pieces), 0)::bigint FROM shop_holds WHERE state = 'sold') AS sold
