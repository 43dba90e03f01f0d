//# private type `Receipt` in public interface
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Receipt;

pub fn receipt() {
    let _ = Receipt;
}

#[durable_fsm(output(Receipt))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
