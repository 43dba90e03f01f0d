-- Parents whose id is above the child's. The whole table is read, by the primary key.
SELECT id, parent_id FROM {schema}.gen_durable WHERE parent_id > id ORDER BY id
