//# `v1::Order` is stored under another name than this machine: give both the same `name`, or this one `alias = ".."`
use gen_durable::prelude::*;

pub mod v1 {
    use gen_durable::prelude::*;

    #[durable_fsm(name = "purchase")]
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
            v1::Order::Close => Order::Only,
        }
    }
}

fn main() {}
