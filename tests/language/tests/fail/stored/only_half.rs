//# `Hold` cannot be stored: it is not `Serialize + Deserialize`
use gen_durable::prelude::*;

#[derive(serde::Serialize)]
pub struct Hold;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only { hold: Hold },
}

fn main() {}
