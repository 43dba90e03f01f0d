//# `Data` is the data of step `Open` already: a type is the data of one step
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Data;
#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Close))]
    Open(Data),
    #[step(done)]
    Close(Data),
}

fn main() {}
