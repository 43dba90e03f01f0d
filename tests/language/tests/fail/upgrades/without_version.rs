//# `v1::Order` is not older: its version must be lower than 1, the one of this machine
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

#[durable_fsm(queue = "orders", from(v1::Order))]
pub enum Order {
    #[step(start, done)]
    Only,
}

impl From<v1::Order> for Order {
    fn from(old: v1::Order) -> Self {
        match old {
            v1::Order::Open => Order::Only,
            v1::Order::Close => Order::Only,
        }
    }
}

fn main() {}
