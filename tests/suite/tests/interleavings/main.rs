//! Pairs of statements through every order that locks allow: on Postgres by rows that someone else holds, on SQLite by the
//! orders of whole transactions.

mod batches;
mod cancels;
mod claims;
mod families;
mod keys;
mod parents;
mod paused;
mod retention;
mod retries;
mod rounds;
mod waits;

use std::time::Duration;

use gen_durable_runtime::{
    model::{
        AwaitMode, Claim, Committed, Deadline, Effects, Entry, InstanceId, Join, Json, SignalSpec, StartSpec, Target,
        Transition, Verdict, Wait,
        plan::{self, Rules},
    },
    store::{Commits, Known},
};
use suite::{Db, entry, order, start};

const RULES: Rules = Rules { version: 1, queue: "default", priority: 0, may_continue: false, awaits_signals: true };

/// The sessions that wait for a lock, a row's or a key's.
const IN_LINE: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'";

fn known() -> Known {
    let steps: Vec<String> = ["a", "b", "w", "j"].map(String::from).to_vec();
    Known { machines: vec!["m".into(); 4], versions: vec![1; 4], steps, ..Known::default() }
}

async fn begin(db: &Db, specs: &[StartSpec]) -> Vec<InstanceId> {
    db.store.start(specs).await.expect("starts").into_iter().map(|s| s.id()).collect()
}

/// What is due, in the order of ids.
async fn claim(db: &Db, token: &str) -> Vec<Claim> {
    let mut claims = db.store.claim(&order(&known(), 100, token)).await.expect("claims").claims;
    claims.sort_by_key(|c| c.id.get());
    claims
}

async fn commit(db: &Db, batch: &[Transition]) -> Commits {
    db.store.commit(batch).await.expect("commits")
}

/// As a lane does: a row that someone else holds is tried again.
async fn insist(store: &dyn gen_durable_runtime::store::Store, batch: &[Transition]) -> Vec<Commits> {
    let (mut open, mut all) = (batch.to_vec(), vec![]);
    while !open.is_empty() {
        let commits = store.commit(&open).await.expect("commits");
        let mut answers = commits.answers.iter();
        open.retain(|_| answers.next() == Some(&Committed::Busy));
        all.push(commits);
        tokio::task::yield_now().await;
    }
    all
}

fn outcome(claim: &Claim, verdict: Verdict, effects: Effects) -> Transition {
    plan::outcome_with(claim, verdict, effects, RULES).expect("a plan")
}

fn goto(claim: &Claim, entry: Entry) -> Transition {
    outcome(claim, to(entry), Effects::default())
}

fn to(entry: Entry) -> Verdict {
    Verdict::Goto { entry, delay: Duration::ZERO, carry: None }
}

fn done(claim: &Claim) -> Transition {
    outcome(claim, Verdict::Done { result: Json::stored("7"), carry: None }, Effects::default())
}

fn fail(claim: &Claim) -> Transition {
    outcome(claim, Verdict::Fail { reason: "no".into(), carry: None }, Effects::default())
}

/// A step that waits for its children.
fn join(quorum: Option<u32>, after: Option<Duration>) -> Entry {
    Entry { join: Some(Join { quorum, deadline: after.map(Deadline::After) }), ..entry("j") }
}

fn fan_out(claim: &Claim, children: Vec<StartSpec>, entry: Entry) -> Transition {
    outcome(claim, to(entry), Effects { children, ..Effects::default() })
}

/// A parent that waits for so many children, all claimed: itself, and they.
async fn family(db: &Db, children: usize, entry: Entry) -> (Claim, Vec<Claim>) {
    begin(db, &[start()]).await;
    let parent = claim(db, "p#1").await.remove(0);
    let answers = commit(db, &[fan_out(&parent, vec![start(); children], entry)]).await;
    assert_eq!(answers, [Committed::Parked]);
    let children = claim(db, "c#1").await;
    (parent, children)
}

/// A step that waits for one of each of two signals.
fn waiting() -> Entry {
    let wait =
        Wait { names: (&["A", "B"][..]).into(), groups: vec![0, 1].into(), mode: AwaitMode::All, deadline: None };
    Entry { wait: Some(wait), ..entry("w") }
}

/// The ways in which a run comes to its end.
mod ended {
    use super::{Committed, Transition};

    /// How many there are.
    pub const ALL: usize = 9;
    pub const IN_PLACE: &str = "on in place";
    pub const GIVEN_BACK: &str = "given back";
    /// The same visit goes on.
    pub const STAYS: [&str; 2] = ["again", GIVEN_BACK];

    /// What a cancel that came first makes of it: an end is honoured, and so is a claim given back, which another takes.
    pub fn cancelled(name: &str, t: &Transition) -> Committed {
        if t.ends() || name == GIVEN_BACK { Committed::Done } else { Committed::Cancelled }
    }

    /// What a reap that came first makes of it: given back or taken back, it stands as asked.
    pub fn reaped(name: &str) -> Committed {
        if name == GIVEN_BACK { Committed::Done } else { Committed::ClaimLost }
    }
}

/// Each of [`ended`], with its name and, where it has one, its line of history.
fn endings(c: &Claim) -> Vec<(&'static str, Transition)> {
    let spawns = Effects { spawned: vec![start()], ..Effects::default() };
    let in_place = Rules { may_continue: true, ..RULES };
    let in_place = plan::outcome_with(c, to(entry("b")), Effects::default(), in_place).expect("a plan");
    let all = [
        ("on", goto(c, entry("b"))),
        (ended::IN_PLACE, in_place),
        ("parks", goto(c, waiting())),
        ("fans out", fan_out(c, vec![start(), start()], join(None, None))),
        ("spawns", outcome(c, to(entry("b")), spawns)),
        ("done", done(c)),
        ("fails", fail(c)),
        ("again", outcome(c, Verdict::RetryIn(Duration::ZERO), Effects::default())),
    ];
    let started = Some(jiff::Timestamp::now());
    let mut all: Vec<_> = all.into_iter().map(|(name, t)| (name, Transition { started, ..t })).collect();
    all.push((ended::GIVEN_BACK, plan::release(c)));
    assert_eq!(all.len(), ended::ALL);
    all
}

fn signal(id: InstanceId, name: &str) -> SignalSpec {
    SignalSpec { target: Target::Id(id), name: name.into(), payload: Json::object(), dedup: None }
}

fn keyed(key: &str) -> StartSpec {
    StartSpec { key: Some(key.into()), ..start() }
}

async fn status(db: &Db, id: InstanceId) -> String {
    db.text(format!("SELECT status::text FROM gen_durable WHERE id = {id}")).await
}

/// Children that a parent waits for, and those of them that ended with a result.
async fn waits_for(db: &Db, id: InstanceId) -> (i64, i64) {
    let count = async |column| db.count(format!("SELECT {column}::bigint FROM gen_durable WHERE id = {id}")).await;
    (count("children_pending").await, count("children_done").await)
}

/// Started, done and failed of a round, as the parent counted them.
async fn counts(db: &Db, parent: &Claim) -> (u64, u64, u64) {
    let round = parent.transitions + 1;
    let counts = db.store.child_counts(parent.id, round).await.expect("counts");
    counts.first().map_or((0, 0, 0), |(_, c)| (c.started, c.done, c.failed))
}

/// Takes back everything that executes.
async fn reap(db: &Db) -> usize {
    db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s' WHERE status = 'executing'").await;
    db.store.reap(100).await.expect("reaps").rows
}

/// Someone else's transaction that holds one row.
#[cfg(feature = "postgres")]
async fn hold(db: &Db, id: InstanceId) -> suite::Tx {
    let mut tx = db.begin().await;
    tx.run(format!("SELECT 1 FROM gen_durable WHERE id = {id} FOR NO KEY UPDATE")).await;
    tx
}
