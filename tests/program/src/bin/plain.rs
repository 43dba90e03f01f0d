//! As little as a program can say.

use gen_durable::{Client, prelude::*};

#[derive(Debug)]
pub struct Host;

impl Host {
    async fn connect(_: &Client) -> Result<Self, gen_durable::Error> {
        Ok(Self)
    }
}

#[durable_job]
async fn greet(_host: &Host, name: String) -> Result<String, StepError> {
    Ok(format!("hello {name}"))
}

gen_durable::worker!(Host::connect);
