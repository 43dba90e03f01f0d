-- RESTRICT: what the host put in meanwhile makes this fail instead of going with it.
DROP SCHEMA {schema} RESTRICT
