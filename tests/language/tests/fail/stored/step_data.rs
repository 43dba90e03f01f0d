//# `Hold` cannot be stored: it is not `Serialize + Deserialize`
//# add `#[derive(serde::Serialize, serde::Deserialize)]` to `Hold`
use gen_durable::prelude::*;

pub struct Hold;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only { hold: Hold },
}

fn main() {}
