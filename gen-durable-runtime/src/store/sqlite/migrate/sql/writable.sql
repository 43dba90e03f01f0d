-- Fails where the file can only be read, in which BEGIN IMMEDIATE begins all the same; changes nothing.
DELETE FROM gen_durable_meta WHERE false
