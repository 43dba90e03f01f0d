//# machine `Order` does not say how it takes over a `v1::Order`
//# write `impl From<v1::Order> for Order`
use gen_durable::prelude::*;

pub mod v1 {
    use gen_durable::prelude::*;

    #[durable_fsm(version = 1)]
    pub enum Order {
        #[step(start, next(Close))]
        Open,
        #[step(done)]
        Close,
    }
}

#[durable_fsm(version = 2, from(v1::Order))]
pub enum Order {
    #[step(start, done)]
    Only,
}

fn main() {}
