//! Processes that freeze, and steps that outlive their lease.

use std::time::Duration;

use gen_durable::{InstanceId, start};
use suite::{Db, WorkerProcess, eventually, is_long, nothing_lost};

use super::{client, worker};
use crate::machines::{Act, Go, Run, Task, Then};

suite::stores! {
    both {
        a_step_ten_times_longer_than_its_lease_runs_once,
        a_late_goto_of_a_frozen_worker_is_dropped_and_counted,
        a_late_done_of_a_frozen_worker_is_dropped_and_counted,
        a_late_park_of_a_frozen_worker_is_dropped_and_counted,
        a_late_retry_of_a_frozen_worker_is_dropped_and_counted,
        a_late_outcome_never_disturbs_the_claim_of_another,
    }
    postgres {
        a_worker_with_a_wrong_clock_is_neither_early_nor_late => "a file has no clock: its processes share the machine's",
    }
}

const RUNS: &str = "SELECT count(*) FROM effects";

/// O-15. The lease is no limit on a run: it is renewed as long as the process lives.
async fn a_step_ten_times_longer_than_its_lease_runs_once(db: Db) {
    let db = db.with_effects().await;
    let lease = Duration::from_secs(if is_long() { 2 } else { 1 });
    let workers = [worker(&db).lease(lease).spawn().await, worker(&db).lease(lease).spawn().await];
    let client = client(&db).await;
    let millis = u64::try_from(lease.as_millis()).expect("short") * 10;
    let mut ids = vec![client.start(start(Run { millis, steps: 1 })).await.expect("starts").id().expect("known")];
    let short = client.start_many((0..20).map(|_| start(Run { millis: 100, steps: 3 }))).await.expect("starts");
    ids.extend(short.iter().map(|s| s.id()));
    nothing_lost(&db, &ids).await;
    assert_eq!(db.count(RUNS).await, 61, "each step once");
    let reaped = |process: &WorkerProcess| process.logged("took back claims");
    assert_eq!(workers.iter().map(reaped).sum::<usize>(), 0);
}

/// O-16. P is frozen in its step until Q has finished the instance; P's late outcome changes nothing.
async fn a_late_outcome_is_dropped(db: Db, then: Then, result: &str) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut p = worker(&db).pause(Duration::from_secs(1)).spawn().await;
    let task = client.start(start(Act { then, millis: 0 })).await.expect("starts");
    let id = task.id().expect("known");
    eventually("P runs it", Duration::from_secs(5), async || db.count(RUNS).await == 1).await;
    p.freeze_apart(&db).await;
    let mut q = worker(&db).spawn().await;
    if then == Then::Park {
        let parked = async || status(&db, id).await == "awaiting_signal";
        eventually("Q parks it", Duration::from_secs(10), parked).await;
        task.signal(Go { n: 7 }).await.expect("delivers");
    }
    assert_eq!(task.wait().timeout(Duration::from_secs(10)).await.expect("Q ends it"), result);
    let left_by_q = db.row(id).await;
    p.thaw();
    let dropped = async || p.logged("claim lost") > 0;
    eventually("P's outcome is dropped", Duration::from_secs(5), dropped).await;
    p.terminate();
    assert!(p.exit(Duration::from_secs(10)).await.success());
    // Its run may have been dropped just before; then there was no outcome.
    assert!(p.logged("outcome dropped") <= 1, "{:?}", p.log());
    assert_eq!(db.row(id).await, left_by_q);
    nothing_lost(&db, &[id]).await;
    q.terminate();
    assert!(q.exit(Duration::from_secs(10)).await.success());
}

async fn status(db: &Db, id: InstanceId) -> String {
    db.text(format!("SELECT status::text FROM gen_durable WHERE id = {id}")).await
}

/// O-16.
async fn a_late_goto_of_a_frozen_worker_is_dropped_and_counted(db: Db) {
    a_late_outcome_is_dropped(db, Then::Goto, "from act").await;
}

/// O-16.
async fn a_late_done_of_a_frozen_worker_is_dropped_and_counted(db: Db) {
    a_late_outcome_is_dropped(db, Then::Done, "from act").await;
}

/// O-16.
async fn a_late_park_of_a_frozen_worker_is_dropped_and_counted(db: Db) {
    a_late_outcome_is_dropped(db, Then::Park, "from act 7").await;
}

/// O-16.
async fn a_late_retry_of_a_frozen_worker_is_dropped_and_counted(db: Db) {
    a_late_outcome_is_dropped(db, Then::Retry, "from act").await;
}

/// O-16, while Q has the instance but has not ended it: P's outcome meets a claim of another.
async fn a_late_outcome_never_disturbs_the_claim_of_another(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut p = worker(&db).pause(Duration::from_secs(1)).spawn().await;
    let task = client.start(start(Act { then: Then::Done, millis: 0 })).await.expect("starts");
    eventually("P runs it", Duration::from_secs(5), async || db.count(RUNS).await == 1).await;
    p.freeze_apart(&db).await;
    let _q = worker(&db).pause(Duration::from_secs(6)).spawn().await;
    eventually("Q runs it", Duration::from_secs(10), async || db.count(RUNS).await == 2).await;
    p.thaw();
    eventually("P's outcome is dropped", Duration::from_secs(5), async || p.logged("claim lost") > 0).await;
    assert_eq!(status(&db, task.id().expect("known")).await, "executing", "Q still has it");
    p.kill().await;
    assert_eq!(task.wait().timeout(Duration::from_secs(20)).await.expect("Q ends it"), "from act");
    assert_eq!(db.count(RUNS).await, 2);
    let _ = client.by_id::<Task>(task.id().expect("known"));
}

/// O-39, as far as built: the database's clock decides, whatever the worker's wall clock says.
#[cfg(feature = "postgres")]
async fn a_worker_with_a_wrong_clock_is_neither_early_nor_late(db: Db) {
    let db = db.with_effects().await;
    for offset in ["+1h", "-1h"] {
        let Some(skewed) = worker(&db).clock(offset) else {
            return local_postgres::skip("faketime is not installed");
        };
        let process = skewed.spawn().await;
        let client = client(&db).await;
        let long = client.start(start(Run { millis: 4_000, steps: 1 })).await.expect("starts");
        let late =
            client.start(start(Run { millis: 0, steps: 1 }).delay(Duration::from_secs(2))).await.expect("starts");
        let retried = client.start(start(Act { then: Then::Retry, millis: 0 })).await.expect("starts");
        let timed = start(crate::machines::Patience { within: Duration::from_secs(2) });
        let timed = client.start(timed).await.expect("starts");
        let limit = Duration::from_secs(10);
        retried.wait().timeout(limit).await.expect("ends");
        assert!(!timed.wait().timeout(limit).await.expect("ends"), "it timed out");
        late.wait().timeout(limit).await.expect("ends");
        long.wait().timeout(limit).await.expect("ends");
        let ids: Vec<InstanceId> = [long.id(), late.id(), retried.id(), timed.id()].into_iter().flatten().collect();
        nothing_lost(&db, &ids).await;
        for id in [late.id(), timed.id()].into_iter().flatten() {
            let after = "SELECT extract(epoch FROM e.at - g.inserted_at)::float8 FROM gen_durable g JOIN effects e
                ON e.instance = g.id WHERE g.id = ANY ($1)";
            let after = db.number_of(after, &[id]).await;
            assert!((2.0..3.0).contains(&after), "{offset}: ran {after} s after its start");
        }
        let runs = "SELECT count(*) FROM effects WHERE instance = ANY ($1)";
        let runs = db.count_of(runs, &[long.id().expect("known")]).await;
        assert_eq!((runs, process.logged("took back claims")), (1, 0), "{offset}: nothing reclaimed alive");
    }
}
