//! How many run at once.

use std::time::{Duration, Instant};

use gen_durable::{Status, prelude::*, start};
use gen_durable_runtime::model::admission::{LimitConfig, LimitKind};
use suite::{Db, eventually, nothing_lost, size};

use crate::{Hands, Pass, Plain, Room, Turn, Work};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        no_more_run_at_once_than_the_gate_allows_and_as_many_as_it_allows,
        the_order_within_a_key_is_the_order_of_starting,
        what_waits_for_a_key_is_set_aside_with_its_reason_and_hides_nothing,
        a_key_without_a_limit_runs_one_at_a_time_however_many_wait,
        counters_are_full_again_when_all_have_ended,
        a_held_slot_is_kept_from_the_first_claim_to_the_end,
        slots_of_a_crash_come_back,
        a_changed_limit_holds_from_then_on,
        work_behind_thousands_of_blocked_rows_does_not_wait_for_the_poll,
    }
}

const LONG: Duration = Duration::from_secs(30);

async fn no_more_run_at_once_than_the_gate_allows_and_as_many_as_it_allows(db: Db) {
    let work = Work::on(&db).await;
    let all = work.start_all((0..40).map(|n| Pass::start(n % 2, n, 30))).await;
    for handle in &all {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    assert_eq!((work.hands.most(0), work.hands.most(1)), (4, 4));
    work.stop().await;
}

async fn the_order_within_a_key_is_the_order_of_starting(db: Db) {
    let work = Work::on(&db).await;
    let all = work.start_all((0..30).map(|n| Turn::start(7, n, 1))).await;
    for handle in &all {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    assert_eq!(work.hands.order(), (0..30).collect::<Vec<_>>());
    assert_eq!(work.hands.most(7), 1);
    work.stop().await;
}

async fn what_waits_for_a_key_is_set_aside_with_its_reason_and_hides_nothing(db: Db) {
    let work = Work::on(&db).await;
    let hour = 3_600_000;
    let held = work.start_all((0..4).map(|n| Pass::start(1, n, hour))).await;
    let running = "SELECT count(*) FROM gen_durable WHERE status = 'executing'";
    eventually("four run", LONG, async || db.count(running).await == 4).await;
    let many = size(3_000);
    work.start_all((0..many as u64).map(|n| Pass::start(1, n, 0))).await;
    let began = Instant::now();
    let free = work.client.start(Plain::start(1)).await.expect("starts");
    free.wait().timeout(LONG).await.expect("ends");
    println!("past {many} rows of a full gate in {:?}", began.elapsed());
    let blocked = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'key:door:1' AND due_at IS NOT NULL";
    let all = i64::try_from(many).expect("small");
    eventually("all are set aside", LONG, async || db.count(blocked).await == all).await;
    // As many as are freed go on, in their order; one by one.
    held[0].cancel("make room").await.expect("asks");
    eventually("the others go on", LONG, async || db.count(blocked).await < all / 2).await;
    assert_eq!(work.hands.most(1), 4);
    work.stop().await;
}

async fn a_key_without_a_limit_runs_one_at_a_time_however_many_wait(db: Db) {
    let work = Work::on(&db).await;
    let many = size(400) as u64;
    let all = work.start_all((0..many).map(|n| Turn::start(3, n, 0))).await;
    work.client.start(Plain::start(1)).await.expect("starts").wait().timeout(LONG).await.expect("ends");
    for handle in &all {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    assert_eq!(work.hands.most(3), 1);
    let ids: Vec<_> = all.iter().map(|h| h.id().expect("known")).collect();
    nothing_lost(&db, &ids).await;
    work.stop().await;
}

async fn counters_are_full_again_when_all_have_ended(db: Db) {
    let work = Work::on(&db).await;
    let all = work.start_all((0..60).map(|n| Pass::start(n % 3, n, 1))).await;
    for handle in &all {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    let missing =
        "SELECT count(*) FROM gen_durable_buckets WHERE kind = 'conc' AND (available <> capacity OR owed <> 0)";
    assert_eq!(db.count(missing).await, 0);
    let rows = "SELECT count(*) FROM gen_durable_buckets WHERE kind = 'conc'";
    assert_eq!(db.count(rows).await, 6, "three keys of two shards");
    db.store.heal(LimitKind::Gate, "", 100).await.expect("heals");
    assert_eq!(db.count(rows).await, 0, "idle counters go whole");
    work.stop().await;
}

/// Stays in its room from its first step to its end.
#[durable_fsm(output(u64), handler(Hands), concurrency(Room))]
pub enum Guest {
    #[step(start, next(Sleep))]
    Arrive { n: u64 },
    #[step(await(Wake), next(Leave))]
    Sleep { n: u64 },
    #[step(done)]
    Leave { n: u64 },
}

#[derive(Debug, serde::Serialize, serde::Deserialize, Signal)]
pub struct Wake {}

impl GuestSteps for Hands {
    async fn arrive(&self, step: Arrive, _: &StepContext) -> StepResult<Arrive> {
        self.note(step.n);
        Ok(goto(Sleep { n: step.n }))
    }

    async fn sleep(&self, step: Sleep, _: Wake, _: &StepContext) -> StepResult<Sleep> {
        Ok(goto(Leave { n: step.n }))
    }

    async fn leave(&self, step: Leave, _: &StepContext) -> StepResult<Leave> {
        Ok(done(step.n))
    }
}

async fn a_held_slot_is_kept_from_the_first_claim_to_the_end(db: Db) {
    let work = Work::on(&db).await;
    let guests = work.start_all((0..4).map(|n| start(Arrive { n }))).await;
    let asleep = "SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal'";
    eventually("two sleep", LONG, async || db.count(asleep).await == 2).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut came = work.hands.order();
    came.sort_unstable();
    assert_eq!(came, [0, 1], "parked, they keep their rooms");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_held").await, 2);
    // A count of what really runs leaves them alone.
    db.store.heal(LimitKind::Gate, "", 100).await.expect("heals");
    guests[0].signal(Wake {}).await.expect("delivers");
    assert_eq!(guests[0].wait().timeout(LONG).await.expect("ends"), 0);
    eventually("the third comes", LONG, async || work.hands.order().len() == 3).await;
    for guest in &guests[1..] {
        guest.signal(Wake {}).await.expect("delivers");
        guest.wait().timeout(LONG).await.expect("ends");
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_held").await, 0);
    work.stop().await;
}

async fn slots_of_a_crash_come_back(db: Db) {
    let work = Work::on(&db).await;
    work.stop().await;
    let client = gen_durable::Client::on(db.store.clone());
    client.start_many((0..8).map(|n| Pass::start(5, n, 0))).await.expect("starts");
    let known = gen_durable_runtime::store::Known {
        machines: vec!["pass".into()],
        versions: vec![1],
        steps: vec!["run".into()],
        ..Default::default()
    };
    let order = gen_durable_runtime::store::ClaimOrder { limits: true, ..suite::order(&known, 10, "gone#1") };
    assert_eq!(db.store.claim(&order).await.expect("claims").claims.len(), 4);
    assert_eq!(db.store.claim(&order).await.expect("claims").claims.len(), 0, "the gate is full");
    assert_eq!(db.store.reclaim("gone", 10).await.expect("reclaims").rows, 4);
    let work = Work::on(&db).await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    eventually("all run", LONG, async || db.count(done).await == 8).await;
    work.stop().await;
}

async fn a_changed_limit_holds_from_then_on(db: Db) {
    let work = Work::on(&db).await;
    let wide = gen_durable_runtime::store::LimitDef {
        kind: LimitKind::Gate,
        name: "door".into(),
        config: LimitConfig { capacity: 7.0, rate: 0.0, shards: 3 },
    };
    let all = work.start_all((0..10).map(|n| Pass::start(9, n, 400))).await;
    let running = "SELECT count(*) FROM gen_durable WHERE status = 'executing'";
    eventually("four run", LONG, async || db.count(running).await == 4).await;
    let queues = db.store.define_limits(&[wide], true).await.expect("sets");
    assert!(queues.contains("default"), "{queues:?}");
    db.store.notify(&["default".to_owned()]).await.expect("wakes");
    eventually("seven run", LONG, async || db.count(running).await == 7).await;
    for handle in &all {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    assert_eq!(work.hands.most(9), 7);
    // A boot leaves what an operator has set.
    work.stop().await;
    Work::on(&db).await.stop().await;
    assert_eq!(db.number("SELECT capacity FROM gen_durable_bucket_configs WHERE name = 'door'").await, 7.0);
    assert_eq!(all[0].show().await.expect("stands").status, Status::Done);
}

/// Each claim sets at most a thousand aside: it goes on at once, and not with the next poll of a second.
async fn work_behind_thousands_of_blocked_rows_does_not_wait_for_the_poll(db: Db) {
    let client = gen_durable::Client::on(db.store.clone());
    client.start_many((0..4_500).map(|n| Pass::start(1, n, 3_600_000))).await.expect("starts");
    let free = client.start(Plain::start(1)).await.expect("starts");
    let began = Instant::now();
    let work = Work::on(&db).await;
    free.wait().timeout(LONG).await.expect("ends");
    // Five claims; four polls would be four seconds.
    assert!(began.elapsed() < Duration::from_millis(3_500), "after {:?}", began.elapsed());
    let blocked = gen_durable::Filter::default().machine("pass").limit(1);
    let stands = work.client.list(blocked).await.expect("lists").remove(0);
    assert_eq!(stands.blocked_by.as_deref(), Some("key:door:1"));
    assert!(stands.due_at.is_some_and(|at| at < stands.eligible_at));
    work.stop().await;
}
