-- READ COMMITTED whatever the role's default: under a higher level the version would be read with a snapshot
-- older than the lock, and an open transaction would hold up a concurrent index build.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE
