//! What the annotation says, what the worker says, and what nobody says.

use std::time::Duration;

use gen_durable::{Client, RunningWorker, WaitError, Worker, prelude::*};
use serde::{Deserialize, Serialize};
use suite::{Db, eventually, store_options};

use crate::{DAY, LONG, fill, left};

suite::stores! {
    both {
        annotations_go_before_what_the_worker_says,
        nothing_goes_that_nobody_spoke_of,
        what_no_machine_of_this_worker_left_stays,
        rows_of_an_older_version_go_by_the_machine_that_took_them_over,
        what_comes_of_age_while_the_worker_runs_goes,
        a_child_goes_once_its_parent_is_done,
        a_retried_parent_still_finds_its_children,
        keys_of_an_endless_machine_go_by_its_annotation,
        a_time_that_cannot_be_is_refused,
    }
}

pub struct Hands;

#[durable_job(retention(done = "7d"))]
pub async fn brief(_hands: &Hands, fails: bool) -> Result<u32, StepError> {
    if fails { Err(StepError::new("told to").permanent()) } else { Ok(1) }
}

#[durable_job]
pub async fn plain(_hands: &Hands, n: u32) -> Result<u32, StepError> {
    Ok(n)
}

/// Kept for good, as long as a time may be.
#[durable_job(retention(done = "36500d", failed = "36500d"))]
pub async fn ledger(_hands: &Hands, n: u32) -> Result<u32, StepError> {
    Ok(n)
}

pub mod v1 {
    use gen_durable::prelude::*;

    #[durable_fsm(name = "report", retention(done = "1d"))]
    pub enum Report {
        #[step(start, done)]
        Write,
    }
}

#[durable_fsm(version = 2, from(v1::Report), handler(Hands), retention(done = "7d"))]
pub enum Report {
    #[step(start, done)]
    Write,
}

impl From<v1::Report> for Report {
    fn from(_: v1::Report) -> Self {
        Report::Write
    }
}

impl ReportSteps for Hands {
    async fn write(&self, _: Write, _: &StepContext) -> StepResult<Write> {
        Ok(done(()))
    }
}

#[durable_fsm(handler(Hands), output(usize), retention(failed = "30d"))]
pub enum Family {
    #[step(start, next(Gather))]
    Split { fails: bool },
    #[step(join(Brief), done, retry(attempts = 1))]
    Gather { fails: bool },
}

impl FamilySteps for Hands {
    async fn split(&self, step: Split, _: &StepContext) -> StepResult<Split> {
        let children = [false, true, false].map(Brief::start);
        Ok(fan_out(Gather { fails: step.fails }).children(children).into())
    }
    async fn gather(&self, step: Gather, joined: Joined<Brief>, cx: &StepContext) -> StepResult<Gather> {
        let children = joined.each().await?.len();
        if step.fails && cx.attempt() == 0 {
            return Err(StepError::new(format!("saw {children}")));
        }
        Ok(done(children))
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Tick {}

#[durable_fsm(handler(Hands), endless(dedup = "7d"))]
pub enum Listener {
    #[step(start, await(Tick), next(Listen))]
    Listen,
}

impl ListenerSteps for Hands {
    async fn listen(&self, _: Listen, _: Tick, _: &StepContext) -> StepResult<Listen> {
        Ok(goto(Listen))
    }
}

fn client(db: &Db) -> Client {
    Client::on(store_options(&db.url).open().expect("a store"))
}

/// It looks anew each 0.6 s.
fn worker(client: &Client) -> Worker {
    Worker::new(client.clone()).handler(Hands).leave_unserved().without_migration().sweep(Duration::from_millis(10))
}

async fn run(worker: Worker) -> RunningWorker {
    worker.start().await.expect("starts")
}

async fn age(db: &Db, days: u32) {
    db.run(format!("UPDATE gen_durable SET updated_at = now() - interval '{days} d'")).await;
}

/// What a worker lets go until it rests: a machine's row that is surely due goes last.
async fn swept(db: &Db, worker: Worker) {
    fill(db, "brief", "done", 1, 7).await;
    let last = db.count("SELECT max(id) FROM gen_durable").await;
    let worker = run(worker).await;
    let gone = async || db.count(format!("SELECT count(*) FROM gen_durable WHERE id = {last}")).await == 0;
    eventually("what is due is gone", LONG, gone).await;
    // All times have had their look by then.
    tokio::time::sleep(Duration::from_millis(300)).await;
    worker.stop().await;
}

async fn annotations_go_before_what_the_worker_says(db: Db) {
    let client = client(&db);
    for machine in ["brief", "plain", "ledger"] {
        for status in ["done", "failed"] {
            fill(&db, machine, status, 1, 8).await;
        }
    }
    let all = async || {
        let mut all = vec![];
        for machine in ["brief", "plain", "ledger"] {
            all.push((left(&db, machine, "done").await, left(&db, machine, "failed").await));
        }
        all
    };
    swept(&db, worker(&client).retention(None, Some(9 * DAY))).await;
    assert_eq!(all().await, [(0, 1), (1, 1), (1, 1)]);
    age(&db, 10).await;
    swept(&db, worker(&client).retention(None, Some(9 * DAY))).await;
    assert_eq!(all().await, [(0, 0), (1, 0), (1, 1)]);
    swept(&db, worker(&client).retention(Some(9 * DAY), None)).await;
    assert_eq!(all().await, [(0, 0), (0, 0), (1, 1)]);
}

async fn nothing_goes_that_nobody_spoke_of(db: Db) {
    fill(&db, "plain", "done", 1, 4_000).await;
    fill(&db, "brief", "failed", 1, 4_000).await;
    swept(&db, worker(&client(&db))).await;
    assert_eq!((left(&db, "plain", "done").await, left(&db, "brief", "failed").await), (1, 1));
}

/// Another engine's, another program's, and those of a version that was rolled back.
async fn what_no_machine_of_this_worker_left_stays(db: Db) {
    for machine in ["foreign", "plain"] {
        fill(&db, machine, "done", 1, 30).await;
    }
    db.run("UPDATE gen_durable SET fsm_version = 2 WHERE fsm = 'plain'").await;
    swept(&db, worker(&client(&db)).retention(Some(DAY), Some(DAY))).await;
    assert_eq!((left(&db, "foreign", "done").await, left(&db, "plain", "done").await), (1, 1));
}

async fn rows_of_an_older_version_go_by_the_machine_that_took_them_over(db: Db) {
    fill(&db, "report", "done", 1, 6).await;
    fill(&db, "report", "done", 1, 8).await;
    swept(&db, worker(&client(&db))).await;
    assert_eq!(left(&db, "report", "done").await, 1);
}

async fn what_comes_of_age_while_the_worker_runs_goes(db: Db) {
    let client = client(&db);
    let worker = run(worker(&client).retention(Some(Duration::from_secs(1)), None)).await;
    for _ in 0..2 {
        let handle = client.start(Plain::start(7)).await.expect("starts");
        assert_eq!(handle.wait().timeout(LONG).await.expect("ends"), 7);
        let gone = async || db.count("SELECT count(*) FROM gen_durable").await == 0;
        let took = eventually("it is gone", LONG, gone).await;
        assert!(took > Duration::from_millis(500), "not before its time: {took:?}");
        assert_eq!(db.count("SELECT count(*) FROM gen_durable_history").await, 0);
        let late = handle.wait().timeout(LONG).await;
        assert!(matches!(late, Err(WaitError::NotFound(_))), "{late:?}");
    }
    worker.stop().await;
}

async fn a_child_goes_once_its_parent_is_done(db: Db) {
    let client = client(&db);
    let first = run(worker(&client)).await;
    let parent = client.start(gen_durable::start(Split { fails: false })).await.expect("starts");
    assert_eq!(parent.wait().timeout(LONG).await.expect("ends"), 3);
    first.stop().await;
    age(&db, 8).await;
    db.run("UPDATE gen_durable SET status = 'awaiting_children', children_pending = 1 WHERE fsm = 'family'").await;
    swept(&db, worker(&client)).await;
    assert_eq!((left(&db, "brief", "done").await, left(&db, "brief", "failed").await), (2, 1));
    db.run("UPDATE gen_durable SET status = 'done' WHERE fsm = 'family'").await;
    swept(&db, worker(&client)).await;
    assert_eq!((left(&db, "brief", "done").await, left(&db, "brief", "failed").await), (0, 1));
    assert_eq!(left(&db, "family", "done").await, 1);
}

/// Its children came of age long before, and it failed.
async fn a_retried_parent_still_finds_its_children(db: Db) {
    let client = client(&db);
    let first = run(worker(&client)).await;
    let parent = client.start(gen_durable::start(Split { fails: true })).await.expect("starts");
    let failure = parent.wait().timeout(LONG).await.expect_err("it fails").to_string();
    assert!(failure.contains("saw 3"), "{failure}");
    first.stop().await;
    age(&db, 29).await;
    swept(&db, worker(&client)).await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 4);
    // Its attempts begin anew; told to fail once more, it would.
    db.run("UPDATE gen_durable SET state = '{\"fails\": false}' WHERE fsm = 'family'").await;
    let again = run(worker(&client)).await;
    parent.retry().await.expect("it goes on");
    assert_eq!(parent.wait().timeout(LONG).await.expect("ends"), 3);
    again.stop().await;
}

async fn keys_of_an_endless_machine_go_by_its_annotation(db: Db) {
    let client = client(&db);
    let listener = run(worker(&client)).await;
    let handle = client.start(gen_durable::start(Listen)).await.expect("starts");
    let send = async || handle.signal(Tick {}).dedup("once").await.expect("delivers").duplicate;
    assert!(!send().await);
    let consumed = async || db.count("SELECT count(*) FROM signals WHERE consumed_at IS NOT NULL").await == 1;
    eventually("it is consumed", LONG, consumed).await;
    assert!(send().await);
    db.run("UPDATE signals SET inserted_at = now() - interval '9 d', consumed_at = now() - interval '8 d'").await;
    let free = async || db.count("SELECT count(*) FROM signals").await == 0;
    eventually("its key protects no longer", LONG, free).await;
    assert!(!send().await);
    listener.stop().await;
}

async fn a_time_that_cannot_be_is_refused(db: Db) {
    for time in [Duration::ZERO, Duration::MAX] {
        let error = worker(&client(&db)).retention(None, Some(time)).start().await.expect_err("refused");
        assert!(error.to_string().contains("retention of failed"), "{error}");
    }
}
