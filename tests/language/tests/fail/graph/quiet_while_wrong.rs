//# machine `Checkout` has no step `Shipp`; did you mean `Ship`?
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}
#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Shipp), catch(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto(Ship { order: step.order }).spawn(Pick::start(1)))
    }
    async fn ship(&self, step: Ship, _cx: &StepContext) -> StepResult<Ship> {
        Ok(done(step.order))
    }
}

impl From<gen_durable::Failed<Reserve>> for Ship {
    fn from(failed: gen_durable::Failed<Reserve>) -> Self {
        Ship { order: failed.step.order }
    }
}

pub fn begin() -> Checkout {
    let _ = start(Ship { order: 1 });
    Checkout::Ship { order: 1 }
}

fn main() {}
