//# this start needs its carry, a `Facts`
use gen_durable::prelude::*;

pub struct Shop;
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Facts;

#[durable_fsm(carry(Facts))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn hand_over(_: impl gen_durable::Startable) {}

pub fn begin() {
    hand_over(start(Only));
}

fn main() {}
