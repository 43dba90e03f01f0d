-- The shop's tables and its first delivery, on Postgres. Run at every start: it makes what is missing and changes
-- nothing else.

-- One worker at a time: `IF NOT EXISTS` does not wait for another's transaction. Let go with this script's own.
DO $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('checkout.tables')); END $$;

CREATE TABLE IF NOT EXISTS shop_stock (
  item text PRIMARY KEY,
  delivered bigint NOT NULL,
  available bigint NOT NULL CHECK (available >= 0)
);

-- A hold stays when it is over: a step that runs again finds it by its key.
CREATE TABLE IF NOT EXISTS shop_holds (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE,
  order_id bigint NOT NULL,
  item text NOT NULL REFERENCES shop_stock,
  pieces bigint NOT NULL CHECK (pieces > 0),
  state text NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'sold', 'freed'))
);

-- The carrier's side: its parcels, one for each key it was given, and every call it ever got.
CREATE TABLE IF NOT EXISTS carrier_parcels (
  key text PRIMARY KEY,
  order_id bigint NOT NULL,
  tracking text NOT NULL,
  recalled boolean NOT NULL DEFAULT false
);
CREATE INDEX IF NOT EXISTS carrier_parcels_order ON carrier_parcels (order_id);

CREATE TABLE IF NOT EXISTS carrier_calls (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL,
  key text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  answer text -- none: whoever called was gone before it came
);
CREATE INDEX IF NOT EXISTS carrier_calls_order ON carrier_calls (order_id);

INSERT INTO shop_stock (item, delivered, available)
VALUES
  ('teapot', 100000, 100000), ('lamp', 100000, 100000), ('kite', 100000, 100000), ('anvil', 100000, 100000),
  ('astrolabe', 2, 2)
ON CONFLICT DO NOTHING;
