//# a key part of one's own is a newtype: `struct Tenant(u64);`
use gen_durable::prelude::*;

#[derive(KeyPart)]
pub struct Tenant {
    pub id: u64,
    pub region: u64,
}

fn main() {}
