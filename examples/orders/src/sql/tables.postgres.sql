-- The service's own tables and what it has to sell, on Postgres. Run at every start: it makes what is missing and
-- changes nothing else.

-- One server at a time: `IF NOT EXISTS` does not wait for another's transaction. Let go with this script's own.
DO $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('orders.tables')); END $$;

CREATE TABLE IF NOT EXISTS stock (
  item text PRIMARY KEY,
  available bigint NOT NULL CHECK (available >= 0)
);

-- `instance` is no foreign key: the engine's row may be gone long before the order is.
CREATE TABLE IF NOT EXISTS orders (
  id bigint PRIMARY KEY,
  instance bigint NOT NULL,
  item text NOT NULL REFERENCES stock,
  pieces bigint NOT NULL CHECK (pieces > 0),
  state text NOT NULL DEFAULT 'placed' CHECK (state IN ('placed', 'reserved', 'paid', 'shipped', 'released')),
  event text, -- the provider's, that decided it
  payment bigint,
  tracking text,
  reason text
);

INSERT INTO stock (item, available) VALUES ('teapot', 100000), ('lamp', 100000), ('astrolabe', 2)
ON CONFLICT DO NOTHING;
