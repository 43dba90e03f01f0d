-- The service's own tables and what it has to sell, on SQLite. Run at every start: it makes what is missing and changes
-- nothing else; each statement is a transaction of its own, and waits for another writer.

CREATE TABLE IF NOT EXISTS stock (
  item text NOT NULL PRIMARY KEY,
  available integer NOT NULL CHECK (available >= 0)
) STRICT;

-- `instance` is no foreign key: the engine's row may be gone long before the order is.
CREATE TABLE IF NOT EXISTS orders (
  id integer PRIMARY KEY,
  instance integer NOT NULL,
  item text NOT NULL REFERENCES stock,
  pieces integer NOT NULL CHECK (pieces > 0),
  state text NOT NULL DEFAULT 'placed' CHECK (state IN ('placed', 'reserved', 'paid', 'shipped', 'released')),
  event text, -- the provider's, that decided it
  payment integer,
  tracking text,
  reason text
) STRICT;

INSERT INTO stock (item, available) VALUES ('teapot', 100000), ('lamp', 100000), ('astrolabe', 2)
ON CONFLICT DO NOTHING;
