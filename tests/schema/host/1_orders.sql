-- A migration of a host application.
CREATE TABLE orders (id bigint primary key);
