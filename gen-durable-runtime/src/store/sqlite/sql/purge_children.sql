-- Lets children forget parents that go, a piece at a time: the foreign key would do it for all at once. Those that go too keep
-- them. Index: gen_durable_parent. ?1 ids that go  ?2 limit
UPDATE gen_durable SET parent_id = NULL
WHERE id IN (
  SELECT c.id FROM gen_durable c
  WHERE c.parent_id IN (SELECT value FROM json_each(?1)) AND c.id NOT IN (SELECT value FROM json_each(?1))
  LIMIT ?2)
RETURNING id
