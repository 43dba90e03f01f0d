-- What the steps did, each run a row, written on a connection of their own: real executions are counted here.
CREATE TABLE effects (
  instance bigint NOT NULL,
  step text NOT NULL,
  attempt int NOT NULL,
  process int NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
)
