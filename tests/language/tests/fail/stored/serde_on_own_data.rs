//# serde attributes of a data type of your own stand on that type
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Data;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    #[serde(rename_all = "camelCase")]
    Only(Data),
}

fn main() {}
