//# an option of `retry(..)` is `word`, `word = literal` or `word(..)`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, retry(3), done)]
    Only,
}

fn main() {}
