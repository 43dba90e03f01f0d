-- The shop's tables and its first delivery, on SQLite. Run at every start: it makes what is missing and changes
-- nothing else; each statement is a transaction of its own, and waits for another writer.

CREATE TABLE IF NOT EXISTS shop_stock (
  item text NOT NULL PRIMARY KEY,
  delivered integer NOT NULL,
  available integer NOT NULL CHECK (available >= 0)
) STRICT;

-- A hold stays when it is over: a step that runs again finds it by its key.
CREATE TABLE IF NOT EXISTS shop_holds (
  id integer PRIMARY KEY,
  key text NOT NULL UNIQUE,
  order_id integer NOT NULL,
  item text NOT NULL REFERENCES shop_stock,
  pieces integer NOT NULL CHECK (pieces > 0),
  state text NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'sold', 'freed'))
) STRICT;

-- The carrier's side: its parcels, one for each key it was given, and every call it ever got.
CREATE TABLE IF NOT EXISTS carrier_parcels (
  key text NOT NULL PRIMARY KEY,
  order_id integer NOT NULL,
  tracking text NOT NULL,
  recalled integer NOT NULL DEFAULT false
) STRICT;
CREATE INDEX IF NOT EXISTS carrier_parcels_order ON carrier_parcels (order_id);

CREATE TABLE IF NOT EXISTS carrier_calls (
  id integer PRIMARY KEY,
  order_id integer NOT NULL,
  key text NOT NULL,
  at text NOT NULL DEFAULT current_timestamp,
  answer text -- none: whoever called was gone before it came
) STRICT;
CREATE INDEX IF NOT EXISTS carrier_calls_order ON carrier_calls (order_id);

INSERT INTO shop_stock (item, delivered, available)
VALUES
  ('teapot', 100000, 100000), ('lamp', 100000, 100000), ('kite', 100000, 100000), ('anvil', 100000, 100000),
  ('astrolabe', 2, 2)
ON CONFLICT DO NOTHING;
