-- What the engine's sessions set at connection; behind a transaction pooler, for one transaction.
SET LOCAL plan_cache_mode = force_generic_plan;
SET LOCAL jit = off;
SET LOCAL enable_seqscan = off;
SET LOCAL synchronous_commit = on;
