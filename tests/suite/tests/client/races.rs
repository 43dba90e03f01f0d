//! A signal against the park, and against the time-out.

use std::time::Duration;

use gen_durable::{InstanceId, start};
use rand::RngExt as _;
use suite::{Db, eventually, nothing_lost, size};

use super::{First, client, ids, worker};
use crate::machines::{Go, Prepare, Visits};

suite::stores! {
    both {
        a_signal_before_the_sweep_ends_the_wait_though_its_time_is_up,
    }
    both(flavor = "multi_thread", worker_threads = 2) {
        park_and_delivery_that_cross_lose_no_signal,
        time_out_and_signal_in_one_instant_resume_once_and_lose_nothing,
    }
    postgres {
        a_signal_in_line_for_the_row_ends_the_wait_of_a_park_that_was_turned_away => "a file has no row locks: who holds it holds all of it",
    }
    postgres(flavor = "multi_thread", worker_threads = 2) {
        park_and_delivery_that_cross_on_a_slow_wire_lose_no_signal => "no server, no wire: a call answers in this process",
    }
}

const UNHEARD: &str = "SELECT count(*) FROM gen_durable g JOIN signals s ON s.target_id = g.id
    WHERE g.status = 'awaiting_signal' AND s.consumed_at IS NULL AND s.name = ANY (g.awaits)";

/// O-20: park and delivery at random; the worker's way to the database is slow in one of the runs.
async fn nobody_sleeps_on_a_signal(db: &Db, url: &str) {
    let client = client(db).await;
    let worker = worker(url, &db.effects_url()).await;
    let instances = size(2_000) as u64;
    let prepare = |name| start(Prepare { name, millis: 0, rounds: 5 });
    let started = client.start_many((0..instances).map(prepare)).await.expect("starts");
    let send = |name: u64| {
        let client = client.clone();
        async move {
            for _ in 0..5 {
                let pause = Duration::from_micros(rand::rng().random_range(0..5_000));
                tokio::time::sleep(pause).await;
                client.of::<Visits>(name).signal(Go { n: 1 }).await.expect("delivers");
            }
        }
    };
    futures_util::future::join_all((0..instances).map(send)).await;
    eventually("nobody sleeps on a signal", Duration::from_secs(10), async || db.count(UNHEARD).await == 0).await;
    for id in ids(&started) {
        let sum = client.by_id::<Visits>(id).wait().timeout(Duration::from_secs(60)).await.expect("ends");
        assert_eq!(sum, 5, "as many resumes as signals");
    }
    nothing_lost(db, &ids(&started)).await;
    worker.stop().await;
}

/// O-20.
async fn park_and_delivery_that_cross_lose_no_signal(db: Db) {
    let db = db.with_effects().await;
    nobody_sleeps_on_a_signal(&db, &db.url).await;
}

/// O-20.
#[cfg(feature = "postgres")]
async fn park_and_delivery_that_cross_on_a_slow_wire_lose_no_signal(db: Db) {
    let db = db.with_effects().await;
    let wire = suite::Wire::to(&db).await;
    wire.delay(Duration::from_millis(3));
    nobody_sleeps_on_a_signal(&db, wire.url()).await;
}

/// O-20, driven: a third holds the row while the signal stands in line for it and the park is turned away.
#[cfg(feature = "postgres")]
async fn a_signal_in_line_for_the_row_ends_the_wait_of_a_park_that_was_turned_away(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    let visits = client.start(start(Prepare { name: 1, millis: 200, rounds: 1 })).await.expect("starts");
    eventually("it runs", Duration::from_secs(5), async || db.count("SELECT count(*) FROM effects").await == 1).await;
    let third = db.hold().await;
    let sending = tokio::spawn({
        let visits = visits.clone();
        async move { visits.signal(Go { n: 3 }).await }
    });
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually("it waits", Duration::from_secs(5), async || db.count(waiting).await == 1).await;
    // Long enough for the step to end and its park to be tried.
    tokio::time::sleep(Duration::from_millis(500)).await;
    third.commit().await;
    sending.await.expect("no panic").expect("delivers");
    assert_eq!(visits.wait().timeout(Duration::from_secs(5)).await.expect("ends"), 3);
    let heard = "SELECT count(*) FROM effects WHERE step = 'listen'";
    assert_eq!(db.count(heard).await, 1);
    nothing_lost(&db, &[visits.id().expect("known")]).await;
    worker.stop().await;
}

/// O-21. Each instance gets one signal within 20 ms of its time-out: it ends the first wait or, too late, the second.
async fn time_out_and_signal_in_one_instant_resume_once_and_lose_nothing(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    let within = Duration::from_millis(1_000);
    let instances = size(1_000);
    let one = || {
        let client = client.clone();
        async move {
            let twice = client.start(start(First { within })).await.expect("starts");
            let late = Duration::from_millis(rand::rng().random_range(0..40));
            tokio::time::sleep(within - Duration::from_millis(20) + late).await;
            twice.signal(Go { n: 1 }).await.expect("it has not ended: nothing else ends it");
            let ended = twice.wait().timeout(Duration::from_secs(10)).await.expect("the signal ends one of its waits");
            (twice.id().expect("known"), ended)
        }
    };
    let ended = futures_util::future::join_all((0..instances).map(|_| one())).await;
    let late = ended.iter().filter(|(_, which)| which == "late").count();
    eprintln!("{late} of {instances} timed out first");
    let all: Vec<InstanceId> = ended.iter().map(|(id, _)| *id).collect();
    let transitions = "SELECT count(*) FROM gen_durable WHERE id = ANY ($1)
        AND transitions <> CASE WHEN result = '\"late\"' THEN 2 ELSE 1 END";
    assert_eq!(db.count_of(transitions, &all).await, 0, "each resumed once");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0, "consumed once");
    nothing_lost(&db, &all).await;
    worker.stop().await;
}

/// O-21: the deadline passed and the signal came while no sweep had run. The row is woken by the signal, and which of
/// the two ended the wait is settled once, by the claim: a signal that is there counts.
async fn a_signal_before_the_sweep_ends_the_wait_though_its_time_is_up(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let within = Duration::from_millis(50);
    let twice = client.start(start(First { within })).await.expect("starts");
    tokio::time::sleep(within * 3).await;
    twice.signal(Go { n: 1 }).await.expect("delivers");
    let worker = worker(&db.url, &db.effects_url()).await;
    assert_eq!(twice.wait().timeout(Duration::from_secs(5)).await.expect("ends"), "first");
    worker.stop().await;
}
