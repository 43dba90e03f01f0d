-- The columns of the table ?1 that are not generated.
SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0
