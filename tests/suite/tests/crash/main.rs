//! Processes that die, freeze, fall over and come back. Each test is named after its promise.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/machines.rs"]
mod machines;

mod batch;
mod dead;
mod frozen;
mod recovery;
mod stop;

use gen_durable::Client;
use suite::{Db, WorkerOptions};

/// A worker process on this database, with short times.
fn worker(db: &Db) -> WorkerOptions {
    WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), db)
}

async fn client(db: &Db) -> Client {
    Client::options(&db.url).pool_size(6).connect().await.expect("connects")
}
