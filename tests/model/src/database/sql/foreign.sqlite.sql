-- A row as another engine may write it: its key is free while it executes, and after its end. $1 id
UPDATE gen_durable SET correlation_scope = '["runnable","awaiting_signal","awaiting_children"]' WHERE id = $1
