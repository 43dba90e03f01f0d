//! Databases that restart, networks that hold and break, pools that are too small.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/machines.rs"]
mod machines;

#[cfg(feature = "postgres")]
mod answers;
mod calls;
mod heard;
#[cfg(feature = "postgres")]
mod idle;
#[cfg(feature = "postgres")]
mod listener;
#[cfg(feature = "postgres")]
mod pools;
mod restart;

use gen_durable::{Client, InstanceId, Started};
use suite::{Db, WorkerOptions};

/// A worker process on this database, with short times.
fn worker(db: &Db) -> WorkerOptions {
    WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), db)
}

async fn client(db: &Db) -> Client {
    Client::options(&db.url).pool_size(6).connect().await.expect("connects")
}

fn ids(started: &[Started]) -> Vec<InstanceId> {
    started.iter().map(|s| s.id()).collect()
}
