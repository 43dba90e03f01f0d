//# step `Close` has no field `order`, which the machine's `concurrency(..)` needs
//# add the field, or mark the step `concurrency(none)`
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;
#[durable_fsm(concurrency(Lock, by(order)))]
pub enum Checkout {
    #[step(start, next(Close))]
    Open { order: u64 },
    #[step(done)]
    Close,
}

fn main() {}
