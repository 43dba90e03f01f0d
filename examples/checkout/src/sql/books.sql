-- Totals: the carrier's calls and those in vain; the pieces that are left, held and sold.
SELECT
  (SELECT count(*) FROM carrier_calls),
  (SELECT count(*) FROM carrier_calls WHERE answer <> 'booked'),
  (SELECT cast(coalesce(sum(available), 0) AS bigint) FROM shop_stock),
  (SELECT cast(coalesce(sum(pieces), 0) AS bigint) FROM shop_holds WHERE state = 'held'),
  (SELECT cast(coalesce(sum(pieces), 0) AS bigint) FROM shop_holds WHERE state = 'sold')
