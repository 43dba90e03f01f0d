-- The user's own statements within a commit are planned as everywhere else: what our sessions set is for ours.
SET LOCAL plan_cache_mode = auto;
SET LOCAL jit = on;
SET LOCAL enable_seqscan = on;
