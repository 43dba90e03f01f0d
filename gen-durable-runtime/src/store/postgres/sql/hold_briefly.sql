-- Bounds how long the rest of the transaction waits for a lock. A batch that starts instances with business keys waits for
-- whoever is inserting the same key, which may be a caller's open transaction: it gives up long before that holds up
-- others, and before the server looks for a deadlock (1 s).
SELECT set_config('lock_timeout', '20ms', true)
