-- All of it, at once.
COMMIT
