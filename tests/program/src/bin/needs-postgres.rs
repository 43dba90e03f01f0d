//! A machine that needs one store.

use gen_durable::{Client, prelude::*};

#[derive(Debug)]
pub struct Host;

impl Host {
    async fn connect(_: &Client) -> Result<Self, gen_durable::Error> {
        Ok(Self)
    }
}

#[durable_fsm(store = "postgres", handler(Host))]
pub enum Picky {
    #[step(start, done)]
    Only,
}

impl PickySteps for Host {
    async fn only(&self, _: Only, _: &StepContext) -> StepResult<Only> {
        Ok(done(()))
    }
}

gen_durable::worker!(Host::connect);
