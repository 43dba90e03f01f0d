//# unknown `retry(..)` option `atempts`; did you mean `attempts`?
//# known options: `attempts`, `backoff`, `cap`, `crashes`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, retry(atempts = 3), done)]
    Only,
}

fn main() {}
