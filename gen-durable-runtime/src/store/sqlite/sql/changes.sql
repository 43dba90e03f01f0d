-- A number that changes whenever another connection, of this process or another, has written to the file.
PRAGMA data_version
