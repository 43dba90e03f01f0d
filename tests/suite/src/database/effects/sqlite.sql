-- What the steps did, each run a row, written on a connection of their own: real executions are counted here.
CREATE TABLE effects (
  instance INTEGER NOT NULL,
  step TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  process INTEGER NOT NULL,
  at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER))
) STRICT
