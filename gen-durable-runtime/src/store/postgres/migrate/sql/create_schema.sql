-- Only when it is absent: IF NOT EXISTS would ask for CREATE on the database even when the schema is there.
CREATE SCHEMA {schema}
