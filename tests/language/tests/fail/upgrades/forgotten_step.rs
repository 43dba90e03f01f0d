//# pattern `v1::Order::Close` not covered
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

impl From<v1::Order> for Order {
    fn from(old: v1::Order) -> Self {
        match old {
            v1::Order::Open => Order::Only,
        }
    }
}

fn main() {}
