-- Another one, added later.
ALTER TABLE orders ADD COLUMN paid boolean;
