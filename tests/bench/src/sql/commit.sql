-- One row committed: the least a start costs.
INSERT INTO gen_durable (fsm, step, queue) VALUES ('bare', 'bare', 'nobody')
