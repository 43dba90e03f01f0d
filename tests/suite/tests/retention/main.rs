//! Retention: what has ended goes by its age, with all that belongs to it, and nobody waits for that. Each test is named after its
//! promise.
#![allow(unreachable_pub)] // machines are public as in a user's crate

mod annotations;
mod costs;
mod crowd;
mod families;
mod keys;
mod load;
mod pieces;

use std::time::Duration;

use gen_durable_runtime::{
    model::{Cursor, Purged, Status},
    store::{Ended, Purge},
};
use suite::Db;

const DAY: Duration = Duration::from_secs(24 * 3_600);
const LONG: Duration = Duration::from_secs(20);

fn ended(machine: &str, version: i32, status: Status) -> Ended {
    Ended { machine: machine.into(), version, status }
}

/// All that machine `m` leaves.
fn of_m() -> Vec<Ended> {
    vec![ended("m", 1, Status::Done), ended("m", 1, Status::Failed)]
}

/// One piece from the beginning: what ended a week ago.
async fn piece(db: &Db, ended: &[Ended], limit: u32) -> Purged {
    let purge = Purge { age: 7 * DAY, ended, from: None, look: 1_000, limit };
    db.store.purge(&purge).await.expect("looks")
}

/// Pieces from the beginning to the end, as a worker goes on; answers with how many went, and how many pieces it took.
async fn pass(db: &Db, ended: &[Ended], look: u32) -> (usize, usize) {
    let (mut cursor, mut gone) = (Cursor::new(look), 0);
    for pieces in 1.. {
        let purge = Purge { age: 7 * DAY, ended, from: cursor.from, look: cursor.look, limit: look };
        let purged = db.store.purge(&purge).await.expect("looks");
        gone += purged.gone;
        if !cursor.advance(look, &purged) {
            return (gone, pieces);
        }
    }
    unreachable!()
}

/// So many instances of a machine that ended so many days ago.
async fn fill(db: &Db, machine: &str, status: &str, rows: usize, days: u32) {
    db.run(format!(
        "INSERT INTO gen_durable (fsm, step, status, updated_at)
         SELECT '{machine}', 'a', '{status}'::durable_status, now() - interval '{days} d' FROM generate_series(1, {rows}) i"
    ))
    .await;
}

/// How many instances there are that ended so.
async fn left(db: &Db, machine: &str, status: &str) -> i64 {
    db.count(format!("SELECT count(*) FROM gen_durable WHERE fsm = '{machine}' AND status = '{status}'")).await
}
