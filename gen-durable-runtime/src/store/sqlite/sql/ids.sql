-- The last id of a table, which no row had before and none will have again. ?1 table
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0) AS last
