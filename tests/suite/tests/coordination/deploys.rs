//! A rolling deploy: old code works beside new code on one database, and meets what it does not know.

use std::time::Duration;

use gen_durable::{Client, Filter, RunningWorker, Snapshot, Status, Target, Worker, prelude::*, start};
use serde::{Deserialize, Serialize};
use suite::{Db, eventually, is_long, nothing_lost};

use crate::machines::Hands;

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        old_code_leaves_what_only_new_code_knows_and_works_on,
        old_code_keeps_the_time_and_takes_back_the_claims_of_what_only_new_code_knows,
        what_old_code_began_new_code_ends_and_never_the_other_way_round,
    }
}

const LONG: Duration = Duration::from_secs(60);

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Agreed {}

pub mod v1 {
    use super::Agreed;
    use gen_durable::prelude::*;

    /// Two steps.
    #[durable_fsm(name = "deal", output(String), handler(super::Old))]
    pub enum Deal {
        #[step(start, next(Answer))]
        Ask { what: String },
        #[step(await(Agreed), timeout = "1h", done)]
        Answer { what: String },
    }
}

/// A third step.
#[durable_fsm(name = "deal", version = 2, output(String), from(v1::Deal), handler(Hands))]
pub enum Deal {
    #[step(start, next(Answer))]
    Ask { what: String, by: String },
    #[step(start, await(Agreed), timeout(within), next(Sign))]
    Answer { what: String, by: String, within: Duration },
    #[step(start, done)]
    Sign { what: String, by: String },
}

impl From<v1::Deal> for Deal {
    fn from(old: v1::Deal) -> Self {
        let by = String::from("nobody");
        match old {
            v1::Deal::Ask { what } => Self::Ask { what, by },
            v1::Deal::Answer { what } => Self::Answer { what, by, within: LONG },
        }
    }
}

/// A machine that old code has not.
#[durable_job]
async fn novelty(_hands: &Hands, number: u64) -> Result<u64, StepError> {
    Ok(number)
}

/// The code of the old deploy.
pub struct Old;

impl v1::DealSteps for Old {
    async fn ask(&self, step: v1::Ask, _: &StepContext) -> StepResult<v1::Ask> {
        Ok(goto(v1::Answer { what: step.what }))
    }
    async fn answer(&self, step: v1::Answer, _: Result<Agreed, TimedOut>, _: &StepContext) -> StepResult<v1::Answer> {
        Ok(done(format!("{} of old", step.what)))
    }
}

impl DealSteps for Hands {
    async fn ask(&self, step: Ask, _: &StepContext) -> StepResult<Ask> {
        Ok(goto(Answer { what: step.what, by: step.by, within: LONG }))
    }
    async fn answer(&self, step: Answer, agreed: Result<Agreed, TimedOut>, _: &StepContext) -> StepResult<Answer> {
        let by = if agreed.is_ok() { step.by } else { "time".into() };
        Ok(goto(Sign { what: step.what, by }))
    }
    async fn sign(&self, step: Sign, _: &StepContext) -> StepResult<Sign> {
        Ok(done(format!("{} by {}", step.what, step.by)))
    }
}

async fn client(db: &Db) -> Client {
    Client::on(suite::store_options(&db.url).open().expect("a store"))
}

async fn old(db: &Db) -> RunningWorker {
    let worker = Worker::new(client(db).await).serve::<v1::Deal, _>(Old).leave_unserved().without_migration();
    worker.poll(Duration::from_millis(100)).sweep(Duration::from_millis(100)).start().await.expect("starts")
}

async fn new(db: &Db) -> RunningWorker {
    let worker = Worker::new(client(db).await).handler(Hands::default()).leave_unserved().without_migration();
    worker.start().await.expect("starts")
}

fn sign(what: &str) -> Sign {
    Sign { what: what.into(), by: "new".into() }
}

/// How often rows were looked for so far; a file is read without a trace.
#[cfg(feature = "postgres")]
async fn claims(db: &Db) -> i64 {
    if db.store.dialect() != "postgres" {
        return 0;
    }
    db.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await;
    db.count(
        "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
         WHERE d.datname = current_database() AND s.query LIKE '%-- Leases up to%'",
    )
    .await
}
#[cfg(not(feature = "postgres"))]
async fn claims(_: &Db) -> i64 {
    0
}

/// O-54. Steps, machines and versions that it does not know stand as they were, due and in sight; its own work goes on.
async fn old_code_leaves_what_only_new_code_knows_and_works_on(db: Db) {
    let client = client(&db).await;
    let known = client.start(start(v1::Ask { what: "tea".into() })).await.expect("starts");
    let step = client.start(start(sign("rice")).priority(-1)).await.expect("starts");
    let machine = client.start(Novelty::start(7).priority(-1)).await.expect("starts");
    let version = client.start(start(sign("salt")).priority(-1)).await.expect("starts");
    let version = version.id().expect("known");
    db.run(format!("UPDATE gen_durable SET fsm_version = 3 WHERE id = {version}")).await;
    let ids = [step.id().expect("known"), machine.id().expect("known"), version];
    let rows = async || [db.row(ids[0]).await, db.row(ids[1]).await, db.row(ids[2]).await];
    let before = rows().await;
    let old = old(&db).await;
    known.wait_parked().timeout(LONG).await.expect("it parks: they are more urgent, and hide nothing");
    let (looked, time) = (claims(&db).await, Duration::from_secs(if is_long() { 10 } else { 2 }));
    tokio::time::sleep(time).await;
    let looks = claims(&db).await - looked;
    // It polls each 100 ms.
    assert!(looks <= 2 * i64::try_from(time.as_millis()).expect("small") / 100, "{looks} looks in {time:?}: it spins");
    known.signal(Agreed {}).await.expect("delivers");
    assert_eq!(known.wait().timeout(LONG).await.expect("ends"), "tea of old");
    assert_eq!(rows().await, before, "no attempt, no crash, no claim");
    let due = client.list(Filter::default().status(Status::Runnable)).await.expect("lists");
    let in_sight: Vec<(&str, i32, &str)> =
        due.iter().rev().map(|s: &Snapshot| (s.machine.as_str(), s.version, s.step.as_str())).collect();
    assert_eq!(in_sight, [("deal", 2, "sign"), ("novelty", 1, "run"), ("deal", 3, "sign")]);
    let new = new(&db).await;
    assert_eq!(step.wait().timeout(LONG).await.expect("ends"), "rice by new");
    assert_eq!(machine.wait().timeout(LONG).await.expect("ends"), 7);
    assert_eq!(db.row(version).await, before[2], "whoever knows this one is yet to come");
    old.stop().await;
    new.stop().await;
}

/// O-54 and its kind: the sweeps of old code are for all.
async fn old_code_keeps_the_time_and_takes_back_the_claims_of_what_only_new_code_knows(db: Db) {
    let client = client(&db).await;
    let within = Duration::from_millis(300);
    let parked = Answer { what: "tea".into(), by: "new".into(), within };
    let timed = client.start(start(parked)).await.expect("starts");
    let claimed = client.start(start(sign("rice"))).await.expect("starts");
    let cancelled = client.start(start(sign("salt"))).await.expect("starts");
    let id = claimed.id().expect("known");
    db.run(format!(
        "UPDATE gen_durable SET status = 'executing', locked_by = 'gone#1', lease_expires_at = now() WHERE id = {id}"
    ))
    .await;
    cancelled.cancel("no need").await.expect("asks");
    let old = old(&db).await;
    let due = "SELECT count(*) FROM gen_durable WHERE status = 'runnable' AND eligible_at <= now()";
    eventually("all are due", LONG, async || db.count(due).await == 3).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    for (of, crashes) in [(timed.id(), 0), (claimed.id(), 1), (cancelled.id(), 0)] {
        let stands = client.show(&Target::Id(of.expect("known"))).await.expect("stands");
        assert_eq!((stands.status, stands.attempt, stands.crashes), (Status::Runnable, 0, crashes), "left to new code");
    }
    let new = new(&db).await;
    assert_eq!(timed.wait().timeout(LONG).await.expect("ends"), "tea by time");
    assert_eq!(claimed.wait().timeout(LONG).await.expect("ends"), "rice by new");
    let ended = cancelled.wait().timeout(LONG).await.expect_err("cancelled").to_string();
    assert!(ended.contains("cancelled: no need"), "{ended}");
    old.stop().await;
    new.stop().await;
    nothing_lost(&db, &[id]).await;
}

/// O-54: once new code wrote it, old code knows it no more.
async fn what_old_code_began_new_code_ends_and_never_the_other_way_round(db: Db) {
    let client = client(&db).await;
    let first = old(&db).await;
    let deals: Vec<_> = (0..20).map(|n| start(v1::Ask { what: n.to_string() })).collect();
    let deals = client.start_many(deals).await.expect("starts");
    let parked = "SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal' AND fsm_version = 1";
    eventually("old code parks them", LONG, async || db.count(parked).await == 20).await;
    let new = new(&db).await;
    for (n, deal) in deals.iter().enumerate() {
        let deal = client.by_id::<Deal>(deal.id());
        deal.signal(Agreed {}).await.expect("delivers");
        // Either of the two may have it.
        let ended = deal.wait().timeout(LONG).await.expect("ends");
        assert!([format!("{n} of old"), format!("{n} by nobody")].contains(&ended), "{ended}");
    }
    let ours = client.start(start(Ask { what: "tea".into(), by: "new".into() })).await.expect("starts");
    ours.signal(Agreed {}).await.expect("delivers");
    assert_eq!(ours.wait().timeout(LONG).await.expect("ends"), "tea by new");
    first.stop().await;
    new.stop().await;
}
