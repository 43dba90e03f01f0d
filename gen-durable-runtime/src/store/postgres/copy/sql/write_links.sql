-- Sets parents, once all instances stand. Index: the primary key. $1 children  $2 their parents
UPDATE {schema}.gen_durable AS child SET parent_id = link.parent
FROM unnest($1::bigint[], $2::bigint[]) AS link (child, parent)
WHERE child.id = link.child
