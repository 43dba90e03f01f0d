//! O-37: several workers, one of them with a wrong clock.

use std::time::{Duration, Instant};

use gen_durable::{Schedule, start};
use jiff::Timestamp;
use suite::{Db, WorkerProcess, is_long};

use super::{SECOND, are_all, client, fired, process};
use crate::clockwork::Chime;

suite::stores! {
    both(flavor = "multi_thread") { one_instance_a_slot_over_four_workers_of_which_one_is_ahead_and_one_always_restarts }
}

const EVERY: Duration = Duration::from_secs(2);

/// Forty slots with a restart each 5 s; six and each second, unless the trials are long.
async fn one_instance_a_slot_over_four_workers_of_which_one_is_ahead_and_one_always_restarts(db: Db) {
    let (count, restart) = if is_long() { (40, 5 * SECOND) } else { (6, SECOND) };
    let ahead = process(&db).clock("+3s").unwrap_or_else(|| {
        eprintln!("faketime is not installed: all clocks are right");
        process(&db)
    });
    let client = client(&db);
    let chime = start(Chime { at: Timestamp::UNIX_EPOCH, tenant: 7 });
    client.schedule("chime", Schedule::every(EVERY).slot_field("at"), chime).await.expect("schedules");
    let mut workers: Vec<WorkerProcess> = vec![ahead.spawn().await];
    for _ in 1..4 {
        workers.push(process(&db).spawn().await);
    }
    let (mut turn, mut restarted) = (0, Instant::now());
    while fired(&client, "tock").await.len() < count {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if restarted.elapsed() >= restart {
            turn = (turn + 1) % workers.len();
            // As a deploy does it, and as a crash does.
            if turn % 2 == 0 {
                workers[turn].terminate()
            } else {
                workers[turn].kill().await
            }
            workers[turn] = if turn == 0 { ahead.spawn().await } else { process(&db).spawn().await };
            restarted = Instant::now();
        }
    }
    drop(workers);
    let (made, coded) = (fired(&client, "tock").await, fired(&client, "tick").await);
    assert!(made.len() >= count && coded.len() >= count, "{made:?} {coded:?}");
    are_all(&made, EVERY);
    are_all(&coded, SECOND);
}
