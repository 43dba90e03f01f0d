-- Lets ids of the table ?1 go on above ?2; the insert of rows only ever raised it.
UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1
