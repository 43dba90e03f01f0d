INSERT INTO gen_durable (fsm, step, queue) VALUES ('bare', 'bare', 'nobody')
