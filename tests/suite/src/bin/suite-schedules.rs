//! The worker process of the schedule tests: it serves the machines of the clockwork on `SUITE_URL`.
//!
//! It prints `ready` once it works, and ends at once when its standard input closes: with the test.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../clockwork.rs"]
mod clockwork;

use std::io::BufRead;

use clockwork::Clockwork;
use gen_durable::{Client, Worker};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn,gen_durable_runtime=info".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let client = Client::options(std::env::var("SUITE_URL")?).pool_size(6).open()?;
    let running = Worker::new(client).handler(Clockwork).start().await?;
    std::thread::spawn(|| {
        std::io::stdin().lock().lines().for_each(drop);
        std::process::abort();
    });
    // Polled second: a signal that is sent after it was said is heard.
    let say = async { println!("ready") };
    tokio::join!(running.run_until_signal(), say);
    Ok(())
}
