//# `Shop` does not implement the steps of machine `Checkout`; write
//# impl CheckoutSteps for Shop {
//# async fn reserve(&self, step: Reserve, cx: &StepContext) -> StepResult<Reserve>
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

fn main() {}
