//! Processes that are killed.

use std::time::{Duration, Instant};

use gen_durable::{InstanceId, Started, start};
use rand::RngExt as _;
use suite::{Db, Oracle, WorkerProcess, eventually, nothing_lost, size};

use super::{client, worker};
use crate::machines::{Act, Bare, Fall, Run, Task, Then};

suite::stores! {
    both {
        a_killed_workers_rows_run_again_and_every_instance_ends,
        rows_of_a_dead_worker_run_again_within_lease_sweep_and_poll,
        a_starting_worker_takes_back_the_claims_of_the_dead_before_their_lease_ends,
        a_step_that_kills_its_process_fails_after_its_cap_and_spares_its_neighbours,
        where_panics_abort_a_panic_is_a_crash,
        panics_of_every_kind_are_errors_and_the_worker_goes_on,
        all_workers_share_the_work,
        crashes_and_errors_are_counted_apart_and_progress_resets_both,
    }
}

fn ids(started: &[Started]) -> Vec<InstanceId> {
    started.iter().map(|s| s.id()).collect()
}

const DONE: &str = "SELECT count(*) FROM gen_durable WHERE status = 'done'";

/// O-13. A row that crashed before runs one at a time on each worker, so the last ones take their time.
async fn a_killed_workers_rows_run_again_and_every_instance_ends(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let (kills, instances) = (size(20), size(200).max(60));
    let started =
        client.start_many((0..instances).map(|_| start(Run { millis: 300, steps: 1 }))).await.expect("starts");
    let mut workers = [worker(&db).spawn().await, worker(&db).spawn().await];
    for _ in 0..kills {
        let pause = Duration::from_millis(rand::rng().random_range(100..700));
        tokio::time::sleep(pause).await;
        let victim = rand::rng().random_range(0..workers.len());
        workers[victim].kill().await;
        workers[victim] = worker(&db).spawn().await;
    }
    Oracle::of(&db).within(Duration::from_secs(120)).check(&ids(&started)).await;
    assert_eq!(db.count(DONE).await, i64::try_from(instances).expect("small"));
    // Whole again: as many steps at once as both workers together have places.
    let after = client.start_many((0..40).map(|_| start(Run { millis: 1_000, steps: 1 }))).await.expect("starts");
    let executing = "SELECT count(*) FROM gen_durable WHERE status = 'executing'";
    eventually("all 20 places in use", Duration::from_secs(5), async || db.count(executing).await == 20).await;
    nothing_lost(&db, &ids(&after)).await;
}

/// O-13: lease, sweep and poll bound how late the rows of the dead run again. On another host nobody can prove the
/// death: here the victim's claims are made to look as such.
async fn rows_of_a_dead_worker_run_again_within_lease_sweep_and_poll(db: Db) {
    let db = db.with_effects().await;
    let mut victim = worker(&db).spawn().await;
    let id =
        client(&db).await.start(start(Run { millis: 60_000, steps: 1 })).await.expect("starts").id().expect("known");
    let runs = "SELECT count(*) FROM effects";
    eventually("it runs", Duration::from_secs(5), async || db.count(runs).await == 1).await;
    let other = worker(&db).spawn().await;
    victim.kill().await;
    let took = eventually("it runs again", Duration::from_secs(10), async || db.count(runs).await == 2).await;
    // 2 s, 0.5 s and 0.2 s, and 2 s for a busy machine; before the lease ends nothing is taken.
    assert!(took < Duration::from_millis(4_700), "{took:?}");
    let again = db.text("SELECT process::text FROM effects ORDER BY at DESC LIMIT 1").await;
    assert_eq!(again, other.pid().to_string());
    let crashes = "SELECT crashes::bigint FROM gen_durable WHERE id = ANY ($1)";
    assert_eq!(db.count_of(crashes, &[id]).await, 1, "counted apart from errors, once");
}

/// O-13, the fast way: a starting worker gives back at once what a process proven dead holds.
async fn a_starting_worker_takes_back_the_claims_of_the_dead_before_their_lease_ends(db: Db) {
    let db = db.with_effects().await;
    let lasting = worker(&db).lease(Duration::from_secs(600));
    let mut victim = lasting.spawn().await;
    let mut neighbour = lasting.spawn().await;
    let client = client(&db).await;
    let started = client.start_many((0..12).map(|_| start(Run { millis: 1_500, steps: 1 }))).await.expect("starts");
    let runs = "SELECT count(*) FROM effects";
    eventually("all run", Duration::from_secs(5), async || db.count(runs).await == 12).await;
    victim.kill().await;
    let killed = Instant::now();
    let replacement = lasting.spawn().await;
    let taken_back = async || replacement.logged("took back claims of dead workers") == 1;
    eventually("claims taken back", Duration::from_secs(10), taken_back).await;
    // Ten steps of 1.5 s, one at a time on each of two workers; far from 600 s.
    Oracle::of(&db).within(Duration::from_secs(40)).check(&ids(&started)).await;
    assert!(killed.elapsed() < Duration::from_secs(60));
    let of_neighbour = format!(
        "SELECT count(*) FROM effects first JOIN effects again ON again.instance = first.instance
         AND again.process <> first.process AND again.at > first.at WHERE first.process = {}",
        neighbour.pid()
    );
    assert_eq!(db.count(of_neighbour).await, 0, "the living keep theirs");
    neighbour.terminate();
    assert!(neighbour.exit(Duration::from_secs(10)).await.success());
}

/// O-14. A poison step takes its company down twice at most: whoever crashed twice runs alone. So neighbours with a cap
/// of three never reach it.
async fn a_step_that_kills_its_process_fails_after_its_cap_and_spares_its_neighbours(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let healthy =
        client.start_many((0..100).map(|_| start(Act { then: Then::Done, millis: 50 }))).await.expect("starts");
    let poison = client.start(start(Fall { name: 1, slot: 1, then: Then::Abort }).priority(-1)).await.expect("starts");
    let caught = client.start(start(Act { then: Then::Abort, millis: 0 }).priority(-1)).await.expect("starts");
    let (one, two) = (worker(&db).supervise().await, worker(&db).supervise().await);
    let failed = poison.wait().timeout(Duration::from_secs(60)).await.expect_err("it fails").to_string();
    assert!(failed.ends_with("crashed 2 times"), "{failed}");
    // Its catch says the same: three crashes, and no error in between.
    let mended = caught.wait().timeout(Duration::from_secs(60)).await.expect("its catch runs");
    assert_eq!(mended, "crashed 3 times after 1");
    for id in ids(&healthy) {
        let ended = client.by_id::<Task>(id).wait().timeout(Duration::from_secs(60)).await.expect("it ends");
        assert_eq!(ended, "from act", "a neighbour never reached the cap");
    }
    assert!((2..=5).contains(&(one.deaths() + two.deaths())), "{} {}", one.deaths(), two.deaths());
    // The business key and the concurrency key are free.
    let again = client.start(start(Fall { name: 1, slot: 1, then: Then::Done })).await.expect("starts");
    assert!(again.is_new());
    assert_eq!(again.wait().timeout(Duration::from_secs(10)).await.expect("ends"), 1);
    nothing_lost(&db, &ids(&healthy)).await;
    one.stop().await;
    two.stop().await;
}

/// O-34: with `panic = "abort"` a panic is a crash, and the cap of crashes applies.
async fn where_panics_abort_a_panic_is_a_crash(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let supervised = worker(&db).with("SUITE_PANIC_ABORTS", 1).supervise().await;
    let falls = client.start(start(Fall { name: 1, slot: 1, then: Then::Panic })).await.expect("starts");
    let failed = falls.wait().timeout(Duration::from_secs(60)).await.expect_err("it fails").to_string();
    assert!(failed.ends_with("crashed 2 times"), "{failed}");
    assert_eq!(supervised.deaths(), 2);
    supervised.stop().await;
}

/// O-34. The worker has two places; each fall costs an attempt, none costs the worker.
async fn panics_of_every_kind_are_errors_and_the_worker_goes_on(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut process = worker(&db).concurrency(2).spawn().await;
    let healthy = client.start_many((0..50).map(|_| start(Run { millis: 5, steps: 2 }))).await.expect("starts");
    let falls = [
        (Then::Panic, "panicked: x after 3"),
        (Then::PanicAny, "panicked with a value that is no text after 3"),
        (Then::Index, "panicked: index out of bounds"),
        (Then::Poisoned, "panicked: called `Result::unwrap()` on an `Err` value: PoisonError"),
        (Then::Joined, "panicked"),
        (Then::Error, "told to err after 3"),
    ];
    for (then, text) in falls {
        let fallen = client.start(start(Act { then, millis: 0 })).await.expect("starts");
        let mended = fallen.wait().timeout(Duration::from_secs(20)).await.expect("its catch runs");
        assert!(mended.contains(text) && mended.ends_with(" after 3"), "{then:?}: {mended}");
    }
    let worse = client.start(start(Act { then: Then::Panic, millis: 13 })).await.expect("starts");
    let failed = worse.wait().timeout(Duration::from_secs(20)).await.expect_err("its catch panics").to_string();
    assert!(failed.contains("its catch failed: panicked: the catch panics too"), "{failed}");
    nothing_lost(&db, &ids(&healthy)).await;
    process.terminate();
    assert!(process.exit(Duration::from_secs(10)).await.success());
}

/// O-18. Each wake-up reaches every worker that has free places.
async fn all_workers_share_the_work(db: Db) {
    let db = db.with_effects().await;
    let mut workers: Vec<WorkerProcess> = Vec::new();
    for _ in 0..4 {
        workers.push(worker(&db).spawn().await);
    }
    let instances = size(20_000);
    let client = client(&db).await;
    let started = client.start_many((0..instances).map(|_| start(Run { millis: 2, steps: 1 }))).await.expect("starts");
    Oracle::of(&db).within(Duration::from_secs(120)).check(&ids(&started)).await;
    assert_eq!(db.count(DONE).await, i64::try_from(instances).expect("small"));
    let twice = "SELECT count(*) FROM (SELECT FROM effects GROUP BY instance HAVING count(*) > 1) AS twice";
    assert_eq!(db.count(twice).await, 0, "each exactly once");
    for process in &workers {
        let its = db.count(format!("SELECT count(*) FROM effects WHERE process = {}", process.pid())).await;
        assert!(its * 20 >= i64::try_from(instances).expect("small"), "{its} of {instances}");
        assert_eq!(process.logged(" WARN ") + process.logged(" ERROR "), 0, "{:?}", process.log());
    }
}

/// O-13, O-14: a crash is told from an error, and progress forgives it.
async fn crashes_and_errors_are_counted_apart_and_progress_resets_both(db: Db) {
    let db = db.with_effects().await;
    let mut victim = worker(&db).spawn().await;
    let client = client(&db).await;
    let task = client.start(start(Act { then: Then::Park, millis: 800 })).await.expect("starts");
    eventually("it runs", Duration::from_secs(5), async || db.count("SELECT count(*) FROM effects").await == 1).await;
    victim.kill().await;
    let _replacement = worker(&db).spawn().await;
    let counts = "SELECT format('%s %s %s %s', status, attempt, crashes, transitions) FROM gen_durable";
    let crashed = async || db.text(counts).await == "executing 0 1 0";
    eventually("it runs again", Duration::from_secs(5), crashed).await;
    let parked = async || db.text(counts).await == "awaiting_signal 0 0 1";
    eventually("it is parked", Duration::from_secs(5), parked).await;
    nothing_lost(&db, &[task.id().expect("known")]).await;
    let by_name = client.of::<Bare>(9u64).show().await.expect_err("nobody");
    assert!(by_name.is_not_found());
}
