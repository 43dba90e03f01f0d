//! What outcomes charge to rate limits.

use std::time::{Duration, Instant};

use gen_durable::Status;
use gen_durable_runtime::{
    model::{
        Charge, Claim, Committed, Effects, Json, Transition, Verdict,
        admission::{LimitConfig, LimitKind},
        plan::{self, Rules},
    },
    store::{Known, LimitDef},
};
use suite::{Db, order, start};

use crate::{LONG, Question, Work};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_key_in_debt_admits_nobody_until_the_refill_has_paid,
        a_charge_is_counted_once_however_often_its_outcome_is_sent,
        an_outcome_that_is_dropped_charges_nothing,
        charges_of_one_cold_key_that_meet_are_all_counted,
        a_charge_that_cannot_be_counted_is_an_error_of_its_step,
        a_limit_that_nobody_has_made_known_is_charged_as_its_type_says,
    }
}

const RULES: Rules = Rules { version: 1, queue: "default", priority: 0, may_continue: false, awaits_signals: false };
const CONFIG: LimitConfig = LimitConfig { capacity: 5.0, rate: 0.001, shards: 1 };

/// What is there, less what is owed.
const LEFT: &str = "SELECT coalesce(sum(available - owed), 0.0) FROM gen_durable_buckets WHERE kind = 'rate'";

async fn claim(db: &Db, token: &str) -> Vec<Claim> {
    let known = Known { machines: vec!["m".into()], versions: vec![1], steps: vec!["a".into()], ..Known::default() };
    let known = Known { timed: vec![false], ..known };
    db.store.claim(&order(&known, 100, token)).await.expect("claims").claims
}

fn charges(claim: &Claim, key: &str, used: f64) -> Transition {
    let verdict = Verdict::Done { result: Json::stored("7"), carry: None };
    let charges = vec![Charge { key: key.into(), used, config: CONFIG }];
    plan::outcome_with(claim, verdict, Effects { charges, ..Effects::default() }, RULES).expect("a plan")
}

async fn make_known(db: &Db) {
    let limit = LimitDef { kind: LimitKind::Rate, name: "x".into(), config: CONFIG };
    db.store.define_limits(&[limit], false).await.expect("sets");
}

async fn a_key_in_debt_admits_nobody_until_the_refill_has_paid(db: Db) {
    let work = Work::on(&db).await;
    let ask = |used| start_of(Question { model: "large".into(), used });
    // Twenty are there: one for the question, and it uses 39 more.
    work.client.start(ask(39.0)).await.expect("starts").wait().timeout(LONG).await.expect("ends");
    let began = Instant::now();
    let next = work.client.start(ask(0.0)).await.expect("starts");
    // Nobody else is held up.
    let other = start_of(Question { model: "small".into(), used: 0.5 });
    work.client.start(other).await.expect("starts").wait().timeout(LONG).await.expect("ends");
    assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
    next.wait().timeout(LONG).await.expect("ends");
    // Twenty owed and one to take, at ten a second.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1_800) && took < Duration::from_secs(6), "{took:?}");
    work.stop().await;
}

fn start_of(question: Question) -> impl gen_durable::Startable<Machine = crate::Ask> {
    gen_durable::start(question)
}

async fn a_charge_is_counted_once_however_often_its_outcome_is_sent(db: Db) {
    make_known(&db).await;
    db.store.start(&[start(), start()]).await.expect("starts");
    let claims = claim(&db, "w#1").await;
    let batch: Vec<Transition> = claims.iter().map(|c| charges(c, "x:1", 3.5)).collect();
    for _ in 0..3 {
        let answers = db.store.commit(&batch).await.expect("commits");
        assert_eq!(answers, [Committed::Done; 2]);
    }
    let left = db.number(LEFT).await;
    assert!((left + 2.0).abs() < 0.1, "five, less twice 3.5: {left}");
}

async fn an_outcome_that_is_dropped_charges_nothing(db: Db) {
    make_known(&db).await;
    let ids = db.store.start(&[start(), start()]).await.expect("starts");
    let claims = claim(&db, "w#1").await;
    let lost = Claim { token: suite::token("w#2"), ..claims[0].clone() };
    let answers = db.store.commit(&[charges(&lost, "x:1", 3.0)]).await.expect("commits");
    assert_eq!(answers, [Committed::ClaimLost]);
    // What is cancelled keeps only its end: another outcome is dropped with all that is beside it.
    let second = claims.iter().find(|c| c.id == ids[1].id()).expect("claimed");
    db.store.cancel(&[gen_durable::Target::Id(second.id)], "").await.expect("asks");
    let again = Verdict::RetryIn(Duration::ZERO);
    let effects = charges(second, "x:1", 3.0).effects.expect("it charges");
    let again = plan::outcome_with(second, again, *effects, RULES).expect("a plan");
    assert_eq!(db.store.commit(&[again]).await.expect("commits"), [Committed::Cancelled]);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_buckets").await, 0);
}

async fn charges_of_one_cold_key_that_meet_are_all_counted(db: Db) {
    make_known(&db).await;
    let many = 40;
    db.store.start(&vec![start(); many]).await.expect("starts");
    let claims = claim(&db, "w#1").await;
    let commits = claims.iter().map(|claim| {
        let (store, batch) = (db.store.clone(), [charges(claim, "x:1", 0.5), charges(claim, "x:2", 0.0)]);
        tokio::spawn(async move {
            // As a lane does: who made the counters in the same moment is looked at again.
            loop {
                match store.commit(&batch[..1]).await {
                    Err(error) if error.is_conflict() => tokio::task::yield_now().await,
                    result => return result.expect("commits"),
                }
            }
        })
    });
    for commit in commits.collect::<Vec<_>>() {
        assert_eq!(commit.await.expect("no panic"), [Committed::Done]);
    }
    let left = db.number(LEFT).await;
    assert!((left - (5.0 - 0.5 * many as f64)).abs() < 0.1, "{left}");
}

async fn a_charge_that_cannot_be_counted_is_an_error_of_its_step(db: Db) {
    let work = Work::on(&db).await;
    let bad = Question { model: "large".into(), used: -1.0 };
    let bad = work.client.start(start_of(bad)).await.expect("starts");
    let failed = bad.wait().timeout(LONG).await;
    assert!(failed.is_err());
    let shown = work.client.show(&gen_durable::Target::Id(bad.id().expect("known"))).await.expect("stands");
    assert_eq!(shown.status, Status::Failed);
    assert!(shown.last_error.as_ref().is_some_and(|e| e.contains("charge is -1")), "{:?}", shown.last_error);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_buckets WHERE owed > 0").await, 0);
    work.stop().await;
}

async fn a_limit_that_nobody_has_made_known_is_charged_as_its_type_says(db: Db) {
    let work = Work::on(&db).await;
    let ask = start_of(Question { model: "a:b".into(), used: 7.25 });
    work.client.start(ask).await.expect("starts").wait().timeout(LONG).await.expect("ends");
    let owed = "SELECT sum(owed) FROM gen_durable_buckets WHERE key = 'spent:a%3Ab:7'";
    let owed = db.number(owed).await;
    assert!((owed - 2.25).abs() < 0.01, "five were there: {owed}");
    // Its worker comes later, and asks for it under other terms: the debt stands.
    let limit = LimitDef { kind: LimitKind::Rate, name: "spent".into(), config: CONFIG };
    work.client.store().define_limits(&[limit], false).await.expect("sets");
    assert!(db.number("SELECT sum(owed) FROM gen_durable_buckets WHERE key LIKE 'spent:%'").await > 2.0);
    work.stop().await;
}
