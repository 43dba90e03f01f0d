//# `carry` is written `carry(Type)`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[derive(Default, Serialize, Deserialize)]
pub struct Facts {
    pub tenant: u64,
}

#[durable_fsm(carry = Facts, handler(Shop))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

impl KeepSteps for Shop {
    async fn only(&self, _step: Only, carry: &mut Facts, _cx: &StepContext) -> StepResult<Only> {
        carry.tenant = 1;
        Ok(done(()))
    }
}

fn main() {}
