//# this is the data of step `Open` of machine `Checkout` already: a type is the data of one step
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Data;

#[durable_fsm]
pub enum Checkout {
    #[step(start, done)]
    Open(Data),
}

#[durable_fsm]
pub enum Refund {
    #[step(start, done)]
    Close(Data),
}

fn main() {}
