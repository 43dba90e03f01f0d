//# machine `Checkout` never awaits signal `Stopped`
//# the signal would sit in the inbox unread
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}
#[derive(Serialize, Deserialize, Signal)]
pub struct Stopped;

#[durable_fsm]
pub enum Checkout {
    #[step(start, await(Paid), done)]
    Pay,
}

fn send<M, G, X>(_signal: G)
where
    M: gen_durable::Awaits<G, X>,
{
}

pub fn stop() {
    send::<Checkout, _, _>(Stopped);
}

fn main() {}
