//# the carry `u64` does not say how it is made of the older version's, a `String`
//# write `impl From<String> for u64`, or keep the carry's type
use gen_durable::prelude::*;

pub mod v1 {
    use gen_durable::prelude::*;

    #[durable_fsm(carry(String))]
    pub enum Order {
        #[step(start, next(Close))]
        Open,
        #[step(done)]
        Close,
    }
}

#[durable_fsm(version = 2, carry(u64), from(v1::Order))]
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
