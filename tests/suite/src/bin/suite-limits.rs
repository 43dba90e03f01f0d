//! The worker process of the trials of limits: it serves the gated machines on `SUITE_URL`, with the times `SUITE_LEASE_MS`,
//! `SUITE_POLL_MS` and `SUITE_SWEEP_MS`.
//!
//! It prints `ready` once it works, and ends at once when its standard input closes: with the test.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../gated.rs"]
mod gated;

use std::{io::BufRead, time::Duration};

use gated::Keeper;
use gen_durable::{Client, Worker};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn,gen_durable_runtime=info".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let client = Client::options(std::env::var("SUITE_URL")?).pool_size(6).open()?;
    let mut worker = Worker::new(client).handler(Keeper).queue("default", 50);
    worker = millis("SUITE_LEASE_MS").into_iter().fold(worker, Worker::lease);
    worker = millis("SUITE_POLL_MS").into_iter().fold(worker, Worker::poll);
    worker = millis("SUITE_SWEEP_MS").into_iter().fold(worker, Worker::sweep);
    let running = worker.start().await?;
    std::thread::spawn(|| {
        std::io::stdin().lock().lines().for_each(drop);
        std::process::abort();
    });
    // Polled second: a signal that is sent after it was said is heard.
    let say = async { println!("ready") };
    tokio::join!(running.run_until_signal(), say);
    Ok(())
}

fn millis(name: &str) -> Option<Duration> {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).map(Duration::from_millis)
}
