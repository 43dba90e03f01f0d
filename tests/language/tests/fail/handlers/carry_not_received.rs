//# method `reserve` has 3 parameters but the declaration in trait `CheckoutSteps::reserve` has 4
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[derive(Default, Serialize, Deserialize)]
pub struct Facts {
    pub tenant: u64,
}

#[durable_fsm(output(u64), carry(Facts), handler(Shop))]
pub enum Checkout {
    #[step(start, done)]
    Reserve { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(done(step.order))
    }
}

fn main() {}
