//! The worker process under test: it serves the machines of the rig, configured by environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `SUITE_URL`, `SUITE_EFFECTS_URL` | the database for the engine, and for the effects |
//! | `SUITE_SCHEMA` | its schema |
//! | `SUITE_LEASE_MS`, `SUITE_POLL_MS`, `SUITE_SWEEP_MS`, `SUITE_DRAIN_MS`, `SUITE_CALL_MS` | times |
//! | `SUITE_QUEUE`, `SUITE_CONCURRENCY` | a queue, and its steps at once |
//! | `SUITE_POOL`, `SUITE_POOLER` | connections; 1 behind a transaction pooler |
//! | `SUITE_PAUSE_MS` | every run takes so much longer |
//! | `SUITE_BATCH` | rows of a claim or a commit |
//! | `SUITE_PANIC_ABORTS` | a panic ends the process, as with `panic = "abort"` |
//! | `SUITE_STARTS` | no worker: starts each key it reads, so many times at once, and prints the answers |
//!
//! It prints `ready` once it works, and ends at once when its standard input closes: with the test.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../machines.rs"]
mod machines;
#[path = "../trials.rs"]
mod trials;

use std::{io::BufRead, str::FromStr, time::Duration};

use gen_durable::{Client, Worker, start};
use machines::{Fall, Rig, Then};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome {
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn,gen_durable_runtime=info".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    if given::<u8>("SUITE_PANIC_ABORTS").is_some() {
        let say = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            say(panic);
            std::process::abort();
        }));
    }
    let client = client()?;
    match given::<usize>("SUITE_STARTS") {
        Some(times) => starts(client, times).await,
        None => work(client).await,
    }
}

fn client() -> Result<Client, Box<dyn std::error::Error>> {
    let mut options = Client::options(text("SUITE_URL").ok_or("SUITE_URL is not set")?);
    if let Some(schema) = text("SUITE_SCHEMA") {
        options = options.schema(schema)?;
    }
    if let Some(limit) = millis("SUITE_CALL_MS") {
        options = options.call_timeout(limit);
    }
    let pooler = given::<u8>("SUITE_POOLER").is_some();
    Ok(options.pool_size(given("SUITE_POOL").unwrap_or(6)).transaction_pooler(pooler).open()?)
}

async fn work(client: Client) -> Outcome {
    let url = text("SUITE_EFFECTS_URL").ok_or("SUITE_EFFECTS_URL is not set")?;
    let rig = Rig::new(&url, millis("SUITE_PAUSE_MS").unwrap_or_default());
    let queue = text("SUITE_QUEUE").unwrap_or_else(|| "default".into());
    let mut worker = Worker::new(client).handler(rig).queue(queue, given("SUITE_CONCURRENCY").unwrap_or(10));
    worker = millis("SUITE_LEASE_MS").into_iter().fold(worker, Worker::lease);
    worker = millis("SUITE_POLL_MS").into_iter().fold(worker, Worker::poll);
    worker = millis("SUITE_SWEEP_MS").into_iter().fold(worker, Worker::sweep);
    worker = millis("SUITE_DRAIN_MS").into_iter().fold(worker, Worker::drain);
    worker = given("SUITE_BATCH").into_iter().fold(worker, Worker::batch);
    let running = worker.start().await?;
    std::thread::spawn(|| {
        let lines = std::io::stdin().lock().lines();
        lines.for_each(drop);
        std::process::abort();
    });
    // Polled second: a signal that is sent after it was said is heard.
    let say = async { println!("ready") };
    tokio::join!(running.run_until_signal(), say);
    Ok(())
}

/// Prints `new duplicate other` and the id of each key.
async fn starts(client: Client, times: usize) -> Outcome {
    println!("ready");
    for key in std::io::stdin().lock().lines() {
        let name: u64 = key?.parse()?;
        let one = || client.start(start(Fall { name, slot: name, then: Then::Done }));
        let answers = futures_util::future::join_all((0..times).map(|_| one())).await;
        let ids: std::collections::BTreeSet<_> = answers.iter().flatten().filter_map(|handle| handle.id()).collect();
        let new = answers.iter().flatten().filter(|handle| handle.is_new()).count();
        let duplicate = answers.iter().flatten().count() - new;
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        println!("{new} {duplicate} {} {}", times - new - duplicate, ids.join(","));
    }
    Ok(())
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn given<T: FromStr>(name: &str) -> Option<T> {
    text(name).and_then(|value| value.parse().ok())
}

fn millis(name: &str) -> Option<Duration> {
    given(name).map(Duration::from_millis)
}
