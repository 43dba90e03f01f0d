-- On a connection whose locking mode is exclusive: fails while anyone else has the file open, and keeps them out.
BEGIN IMMEDIATE
