//# `Shop` does not implement the steps of machine `Checkout`; write
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

impl Shop {
    pub async fn ship(&self, step: Ship, _cx: &StepContext) -> StepResult<Ship> {
        Ok(done(step.order))
    }
}

fn main() {}
