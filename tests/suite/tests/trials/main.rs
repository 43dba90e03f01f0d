//! The trials: many instances, worker processes that are killed, wires that are cut. A tenth of their size, or all of it with
//! `GEN_DURABLE_LONG=1` (`scripts/test --long`). Each prints its figures.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/gated.rs"]
mod gated;
#[path = "../../src/machines.rs"]
mod machines;
#[path = "../../src/trials.rs"]
mod trials;

mod deadlines;
mod failures;
mod families;
mod gates;
mod kills;
mod opposite;
mod parks;
mod rates;
mod transfers;

use std::time::{Duration, Instant};

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

/// How many stand where, and how often they crashed: what to look at when a trial does not come to its end.
const STANDS: &str = "SELECT string_agg(line, ', ') FROM (
    SELECT count(*) || ' ' || status::text || ' at ' || step || ', crashed ' || max(crashes) AS line
    FROM gen_durable GROUP BY status, step) l";

/// Waits until so many of a machine are done.
async fn all_done(db: &Db, machine: &str, all: usize, within: Duration) {
    let (began, all) = (Instant::now(), i64::try_from(all).expect("small"));
    let done = format!("SELECT count(*) FROM gen_durable WHERE fsm = '{machine}' AND status = 'done'");
    while db.count(&*done).await < all {
        assert!(began.elapsed() < within, "not within {within:?}: {}", db.text(STANDS).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
