//! Claims, the fence, commits: what the store promises.

use std::time::Duration;

use gen_durable_runtime::{
    model::{
        Change, Claim, ClaimToken, Committed, ConcurrencySlot, Deadline, Entry, InstanceId, Json, SignalSpec,
        StartSpec, Target, Transition, Verdict, Wait, Wake,
        plan::{self, Rules},
    },
    store::{Delivered, Known, Renewed},
};
use suite::{Db, entry, order, start};

suite::stores! {
    both {
        an_instance_goes_from_start_over_a_step_in_place_to_done,
        a_claim_takes_the_most_urgent_first_and_says_when_the_next_is_due,
        two_claims_never_share_a_row,
        an_unconfigured_key_runs_one_at_a_time,
        commit_by_a_lost_claim_changes_nothing,
        a_commit_whose_answer_was_lost_is_told_by_its_fence,
        one_outcome_that_cannot_be_stored_changes_nothing_of_the_others,
        a_signal_before_the_wait_is_not_lost_and_is_consumed_once,
        a_parked_instance_is_woken_by_a_match_and_only_by_a_match,
        a_wait_times_out_on_time_and_a_late_signal_stays_in_the_inbox,
        a_wait_that_is_not_over_is_parked_again_without_a_run,
        a_dedup_key_protects_for_the_life_of_the_instance,
        a_signal_to_nobody_is_refused_and_leaves_nothing,
        a_business_key_has_one_occupant_and_a_second_start_is_told_who,
        a_renewal_extends_what_stands_and_names_what_is_lost,
        rows_of_code_that_nobody_knows_hide_nothing_and_are_left_alone,
        rows_that_crashed_twice_before_come_one_at_a_time,
        a_retry_never_collides_with_a_newer_twin,
    }
    postgres {
        a_row_held_by_someone_else_never_makes_a_batch_wait => "a file has no row locks: who holds it holds all of it",
        a_renewal_never_waits_for_a_row_and_names_it => "a file has no row locks: who holds it holds all of it",
    }
    sqlite {
        a_commit_in_line_for_the_file_is_made_once_it_is_free => "rows are held there, not the database",
    }
}

pub(crate) const RULES: Rules =
    Rules { version: 1, queue: "default", priority: 0, may_continue: true, awaits_signals: true };

pub(crate) fn known() -> Known {
    let steps: Vec<String> = ["a", "b", "w"].map(String::from).to_vec();
    Known { machines: vec!["m".into(); 3], versions: vec![1; 3], steps, ..Known::default() }
}

pub(crate) async fn claim(db: &Db, limit: u32, token: &str) -> Vec<Claim> {
    db.store.claim(&order(&known(), limit, token)).await.expect("claims").claims
}

pub(crate) async fn begin(db: &Db, specs: &[StartSpec]) -> Vec<InstanceId> {
    db.store.start(specs).await.expect("starts").into_iter().map(|s| s.id()).collect()
}

pub(crate) fn goto(claim: &Claim, entry: Entry) -> Transition {
    plan::outcome(claim, Verdict::Goto { entry, delay: Duration::ZERO, carry: None }, RULES).expect("a plan")
}

fn done(claim: &Claim) -> Transition {
    plan::outcome(claim, Verdict::Done { result: Json::stored("7"), carry: None }, RULES).expect("a plan")
}

pub(crate) fn waiting(names: &'static [&'static str], deadline: Option<Deadline>) -> Entry {
    Entry { wait: Some(Wait::any(names, deadline)), ..entry("w") }
}

pub(crate) fn signal(id: InstanceId, name: &str) -> SignalSpec {
    let payload = Json::stored(r#"{"n":1}"#);
    SignalSpec { target: Target::Id(id), name: name.into(), payload, dedup: None }
}

async fn commit(db: &Db, t: Transition) -> Committed {
    db.store.commit(&[t]).await.expect("commits")[0]
}

async fn an_instance_goes_from_start_over_a_step_in_place_to_done(db: Db) {
    begin(&db, &[start()]).await;
    let claims = claim(&db, 10, "w#1").await;
    assert_eq!((claims.len(), claims[0].step.as_str(), &claims[0].wake), (1, "a", &Wake::Ready));
    assert_eq!(commit(&db, goto(&claims[0], entry("b"))).await, Committed::Kept);
    let onward = Claim { transitions: 1, step: "b".into(), ..claims[0].clone() };
    assert_eq!(commit(&db, done(&onward)).await, Committed::Done);
    assert_eq!(
        db.text("SELECT status::text || ' ' || step || ' ' || result::text || ' ' || transitions FROM gen_durable")
            .await,
        "done b 7 2"
    );
}

async fn a_claim_takes_the_most_urgent_first_and_says_when_the_next_is_due(db: Db) {
    let late = StartSpec { delay: Duration::from_secs(60), ..start() };
    let urgent = StartSpec { priority: Some(-5), ..start() };
    let ids = begin(&db, &[start(), urgent, late]).await;
    let known = known();
    let first = db.store.claim(&order(&known, 1, "w#1")).await.expect("claims");
    assert_eq!(first.claims[0].id, ids[1]);
    assert_eq!(first.next_due, None, "nobody who is claimed waits for that look");
    let second = db.store.claim(&order(&known, 5, "w#2")).await.expect("claims");
    assert_eq!(second.claims.iter().map(|c| c.id).collect::<Vec<_>>(), [ids[0]]);
    let none = db.store.claim(&order(&known, 5, "w#3")).await.expect("claims");
    assert!(none.claims.is_empty());
    let due = none.next_due.expect("known").duration_since(none.now).as_secs();
    assert!((58..=60).contains(&due), "{due}");
}

async fn two_claims_never_share_a_row(db: Db) {
    begin(&db, &vec![start(); 100]).await;
    let known = known();
    let (a, b) = (order(&known, 60, "a#1"), order(&known, 60, "b#1"));
    let (a, b) = tokio::join!(db.store.claim(&a), db.store.claim(&b));
    let mut ids: Vec<_> = a.expect("a").claims.iter().chain(&b.expect("b").claims).map(|c| c.id).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

async fn an_unconfigured_key_runs_one_at_a_time(db: Db) {
    let slot = || Some(ConcurrencySlot { key: "k:1".into(), limit: None });
    let keyed = StartSpec { entry: Entry { concurrency: slot(), ..entry("a") }, ..start() };
    begin(&db, &[keyed.clone(), keyed, start()]).await;
    let first = claim(&db, 10, "w#1").await;
    assert_eq!(first.len(), 2, "one of the key, and the one without");
    assert_eq!(claim(&db, 10, "w#2").await.len(), 0);
    let holder = first.iter().find(|c| c.concurrency_key.is_some()).expect("it holds the key");
    assert_eq!(commit(&db, done(holder)).await, Committed::Done);
    assert_eq!(claim(&db, 10, "w#3").await.len(), 1);
}

async fn commit_by_a_lost_claim_changes_nothing(db: Db) {
    begin(&db, &[start()]).await;
    let lost = claim(&db, 1, "p#1").await.remove(0);
    db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s'").await;
    assert_eq!(db.store.reap(10).await.expect("reaps").rows, 1);
    let winner = claim(&db, 1, "q#1").await.remove(0);
    assert_eq!(winner.crashes, 1);
    for t in [done(&lost), goto(&lost, entry("b")), plan::release(&lost), plan::repark(&lost)] {
        assert_eq!(commit(&db, t).await, Committed::ClaimLost);
    }
    assert_eq!(
        db.text("SELECT status::text || locked_by || step || transitions FROM gen_durable").await,
        "executingq#1a0"
    );
    assert_eq!(commit(&db, done(&winner)).await, Committed::Done);
    assert_eq!(commit(&db, done(&lost)).await, Committed::ClaimLost);
}

async fn a_commit_whose_answer_was_lost_is_told_by_its_fence(db: Db) {
    begin(&db, &vec![start(); 4]).await;
    let claims = claim(&db, 4, "w#1").await;
    let fail = Transition::of(&claims[2], Change::Fail { reason: "no".into(), carry: None }, vec![]);
    let batch = [goto(&claims[0], entry("b")), done(&claims[1]), fail, goto(&claims[3], waiting(&["s"], None))];
    let first = db.store.commit(&batch).await.expect("commits");
    assert_eq!(first, [Committed::Kept, Committed::Done, Committed::Done, Committed::Parked]);
    let again = db.store.commit(&batch).await.expect("commits");
    assert_eq!(again, [Committed::Kept, Committed::Done, Committed::Done, Committed::Done]);
    assert_eq!(db.count("SELECT sum(transitions)::bigint FROM gen_durable").await, 3);
}

#[cfg(feature = "postgres")]
async fn a_row_held_by_someone_else_never_makes_a_batch_wait(db: Db) {
    begin(&db, &vec![start(); 3]).await;
    let claims = claim(&db, 3, "w#1").await;
    let other = hold_row(&db, claims[1].id).await;
    let batch: Vec<_> = claims.iter().map(done).collect();
    let answers = tokio::time::timeout(Duration::from_secs(5), db.store.commit(&batch)).await.expect("no wait");
    assert_eq!(answers.expect("commits"), [Committed::Done, Committed::Busy, Committed::Done]);
    other.rollback().await.expect("rolls back");
    assert_eq!(commit(&db, batch[1].clone()).await, Committed::Done);
}

/// Someone else writes: the batch stands in line, and nothing of it is lost or half done.
#[cfg(feature = "sqlite")]
async fn a_commit_in_line_for_the_file_is_made_once_it_is_free(db: Db) {
    begin(&db, &vec![start(); 3]).await;
    let claims = claim(&db, 3, "w#1").await;
    let other = db.hold().await;
    let batch: Vec<_> = claims.iter().map(done).collect();
    let waiting = tokio::spawn({
        let store = db.store.clone();
        async move { store.commit(&batch).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!waiting.is_finished(), "it cannot have been written");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'executing'").await, 3);
    other.commit().await;
    assert_eq!(waiting.await.expect("no panic").expect("commits"), [Committed::Done; 3]);
}

async fn one_outcome_that_cannot_be_stored_changes_nothing_of_the_others(db: Db) {
    begin(&db, &vec![start(); 2]).await;
    let claims = claim(&db, 2, "w#1").await;
    let bad = Change::Done { result: Json::stored("nonsense"), carry: None };
    let batch = [Transition::of(&claims[0], bad, vec![]), done(&claims[1])];
    let error = db.store.commit(&batch).await.expect_err("no JSON");
    assert!(!error.is_transient(), "{error}");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'executing'").await, 2);
    assert_eq!(commit(&db, done(&claims[1])).await, Committed::Done);
}

async fn a_signal_before_the_wait_is_not_lost_and_is_consumed_once(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let claims = claim(&db, 1, "w#1").await;
    for name in ["other", "s", "s"] {
        assert_eq!(db.store.signal(&[signal(id, name)]).await.expect("delivers")[0].delivered, Delivered::New(id));
    }
    // The inbox has a match: the park is over before it begins.
    assert_eq!(commit(&db, goto(&claims[0], waiting(&["s"], None))).await, Committed::Done);
    let woken = claim(&db, 1, "w#2").await.remove(0);
    let Wake::Signals(received) = &woken.wake else { panic!("{:?}", woken.wake) };
    assert_eq!((received.len(), received[0].name.as_str()), (1, "s"));
    let payload: serde_json::Value = serde_json::from_str(received[0].payload.as_str()).expect("JSON");
    assert_eq!(payload["n"], 1);
    // A retry of the visit sees exactly the same.
    let retry = Transition::of(&woken, Change::Retry { after: Duration::ZERO, error: Some("x".into()) }, vec![]);
    assert_eq!(commit(&db, retry).await, Committed::Done);
    let again = claim(&db, 1, "w#3").await.remove(0);
    assert_eq!((again.attempt, &again.wake), (1, &woken.wake));
    assert_eq!(commit(&db, goto(&again, entry("b"))).await, Committed::Kept);
    assert_eq!(db.text("SELECT string_agg(name, ',' ORDER BY id) FROM signals").await, "other,s");
}

async fn a_parked_instance_is_woken_by_a_match_and_only_by_a_match(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let claims = claim(&db, 1, "w#1").await;
    assert_eq!(commit(&db, goto(&claims[0], waiting(&["s", "t"], None))).await, Committed::Parked);
    assert_eq!(db.store.signal(&[signal(id, "u")]).await.expect("delivers")[0].wake, None);
    assert_eq!(claim(&db, 1, "w#2").await.len(), 0);
    assert_eq!(db.store.signal(&[signal(id, "t")]).await.expect("delivers")[0].wake.as_deref(), Some("default"));
    let woken = claim(&db, 1, "w#3").await;
    assert!(matches!(&woken[0].wake, Wake::Signals(s) if s[0].name == "t"), "{:?}", woken[0].wake);
}

async fn a_wait_times_out_on_time_and_a_late_signal_stays_in_the_inbox(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let claims = claim(&db, 1, "w#1").await;
    let soon = Some(Deadline::After(Duration::from_millis(300)));
    assert_eq!(commit(&db, goto(&claims[0], waiting(&["s"], soon))).await, Committed::Parked);
    assert_eq!(db.store.end_waits(10).await.expect("sweeps").rows, 0, "never early");
    let known = known();
    let deadline = db.store.claim(&order(&known, 1, "w#2")).await.expect("claims");
    let in_ms = deadline.next_deadline.expect("known").duration_since(deadline.now).as_millis();
    assert!((1..=300).contains(&in_ms), "{in_ms}");
    tokio::time::sleep(Duration::from_millis(310)).await;
    assert_eq!(db.store.end_waits(10).await.expect("sweeps").queues, ["default"]);
    let timed_out = claim(&db, 1, "w#3").await.remove(0);
    assert_eq!(timed_out.wake, Wake::Signals(vec![]));
    db.store.signal(&[signal(id, "s")]).await.expect("delivers");
    let retry = Transition::of(&timed_out, Change::Retry { after: Duration::ZERO, error: None }, vec![]);
    commit(&db, retry).await;
    assert_eq!(claim(&db, 1, "w#4").await[0].wake, Wake::Signals(vec![]), "settled once for all retries");
    assert_eq!(db.count("SELECT count(*) FROM signals WHERE consumed_at IS NULL").await, 1);
}

async fn a_wait_that_is_not_over_is_parked_again_without_a_run(db: Db) {
    let delayed = StartSpec { entry: waiting(&["s"], None), delay: Duration::from_millis(50), ..start() };
    let id = begin(&db, &[delayed]).await[0];
    tokio::time::sleep(Duration::from_millis(60)).await;
    let claims = claim(&db, 1, "w#1").await;
    assert_eq!(claims[0].wake, Wake::Unsatisfied);
    assert_eq!(commit(&db, plan::repark(&claims[0])).await, Committed::Parked);
    // The other order: the signal comes between the claim and the park.
    db.run("UPDATE gen_durable SET status = 'runnable'").await;
    let claims = claim(&db, 1, "w#2").await;
    db.store.signal(&[signal(id, "s")]).await.expect("delivers");
    assert_eq!(commit(&db, plan::repark(&claims[0])).await, Committed::Done);
    assert!(matches!(claim(&db, 1, "w#3").await[0].wake, Wake::Signals(_)));
}

async fn a_dedup_key_protects_for_the_life_of_the_instance(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let pay = || SignalSpec { dedup: Some("evt-7".into()), ..signal(id, "s") };
    let twice = db.store.signal(&[pay(), pay()]).await.expect("delivers");
    assert_eq!((twice[0].delivered, twice[1].delivered), (Delivered::New(id), Delivered::Duplicate(id)));
    let claims = claim(&db, 1, "w#1").await;
    commit(&db, goto(&claims[0], waiting(&["s"], None))).await;
    let woken = claim(&db, 1, "w#2").await.remove(0);
    assert_eq!(
        commit(&db, goto(&woken, waiting(&["s"], None))).await,
        Committed::Parked,
        "consumed, not matched again"
    );
    assert_eq!(db.store.signal(&[pay()]).await.expect("delivers")[0].delivered, Delivered::Duplicate(id));
    assert_eq!(db.text("SELECT payload::text FROM signals").await, "{}", "emptied");
    assert_eq!(claim(&db, 1, "w#3").await.len(), 0);
}

async fn a_signal_to_nobody_is_refused_and_leaves_nothing(db: Db) {
    let kept = StartSpec { key: Some("m:1".into()), key_kept: true, ..start() };
    let id = begin(&db, &[kept]).await[0];
    let claims = claim(&db, 1, "w#1").await;
    commit(&db, done(&claims[0])).await;
    let by_key = |key: &str| SignalSpec { target: Target::Key(key.into()), ..signal(id, "s") };
    let nobody = [signal(id, "s"), signal(InstanceId::new(i64::MAX), "s"), by_key("m:1"), by_key("m:2")];
    let answers = db.store.signal(&nobody).await.expect("delivers");
    assert!(answers.iter().all(|a| a.delivered == Delivered::NoTarget), "{answers:?}");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
}

async fn a_business_key_has_one_occupant_and_a_second_start_is_told_who(db: Db) {
    let keyed = |key: &str| StartSpec { key: Some(key.into()), ..start() };
    let first = begin(&db, &[keyed("m:1")]).await[0];
    let batch = [keyed("m:1"), keyed("m:2"), start(), keyed("m:2")];
    let answers = db.store.start(&batch).await.expect("starts");
    assert_eq!(answers[0], gen_durable_runtime::model::Started::Duplicate(first));
    assert!(answers[1].is_new() && answers[2].is_new() && !answers[3].is_new());
    assert_eq!(answers[3].id(), answers[1].id());
    let claims = claim(&db, 10, "w#1").await;
    for c in &claims {
        commit(&db, done(c)).await;
    }
    assert!(db.store.start(&[keyed("m:1")]).await.expect("starts")[0].is_new(), "free after the end");
}

async fn a_renewal_extends_what_stands_and_names_what_is_lost(db: Db) {
    begin(&db, &vec![start(); 3]).await;
    let claims = claim(&db, 3, "w#1").await;
    commit(&db, done(&claims[0])).await;
    let renewed = renew(&db, &claims).await;
    assert_eq!((ids(&renewed.lost), ids(&renewed.busy)), (vec![claims[0].id], vec![]));
    let extended = "SELECT count(*) FROM gen_durable WHERE lease_expires_at > now() + interval '80 s'";
    assert_eq!(db.count(extended).await, 2);
}

#[cfg(feature = "postgres")]
async fn a_renewal_never_waits_for_a_row_and_names_it(db: Db) {
    begin(&db, &vec![start(); 3]).await;
    let claims = claim(&db, 3, "w#1").await;
    commit(&db, done(&claims[0])).await;
    let other = hold_row(&db, claims[1].id).await;
    let renewed = renew(&db, &claims).await;
    assert_eq!((ids(&renewed.lost), ids(&renewed.busy)), (vec![claims[0].id], vec![claims[1].id]));
    other.rollback().await.expect("rolls back");
}

fn ids(claims: &[(InstanceId, ClaimToken)]) -> Vec<InstanceId> {
    claims.iter().map(|(id, _)| *id).collect()
}

async fn renew(db: &Db, claims: &[Claim]) -> Renewed {
    let held: Vec<_> = claims.iter().map(|c| (c.id, c.token.clone())).collect();
    db.store.renew(&held, Duration::from_secs(90)).await.expect("renews")
}

/// Someone else's lock on one row.
#[cfg(feature = "postgres")]
async fn hold_row(db: &Db, id: InstanceId) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut other = db.pool().begin().await.expect("a transaction");
    let hold = sqlx::query("SELECT 1 FROM gen_durable WHERE id = $1 FOR UPDATE").bind(id.get());
    hold.execute(&mut *other).await.expect("holds");
    other
}

async fn rows_of_code_that_nobody_knows_hide_nothing_and_are_left_alone(db: Db) {
    let unknown = [("n", 1, "a"), ("m", 2, "a"), ("m", 1, "zz")];
    let foreign = unknown.map(|(machine, version, step)| StartSpec { machine, version, entry: entry(step), ..start() });
    begin(&db, &foreign).await;
    let id = begin(&db, &[start()]).await[0];
    let claims = claim(&db, 10, "w#1").await;
    assert_eq!(claims.iter().map(|c| c.id).collect::<Vec<_>>(), [id]);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'runnable' AND attempt = 0").await, 3);
}

async fn rows_that_crashed_twice_before_come_one_at_a_time(db: Db) {
    begin(&db, &vec![start(); 3]).await;
    db.run("UPDATE gen_durable SET crashes = 2 WHERE id > 1").await;
    let claims = claim(&db, 10, "w#1").await;
    assert_eq!(claims.iter().map(|c| c.crashes).sum::<u32>(), 2);
    let known = known();
    let careful = gen_durable_runtime::store::ClaimOrder { crashed: false, ..order(&known, 10, "w#2") };
    assert_eq!(db.store.claim(&careful).await.expect("claims").claims.len(), 0);
}

async fn a_retry_never_collides_with_a_newer_twin(db: Db) {
    begin(&db, &vec![start(); 3]).await;
    // A foreign scope: occupied only while runnable, so that a twin is legal while the first executes.
    db.run("UPDATE gen_durable SET correlation_key = 'k', correlation_scope = '{runnable}' WHERE id = 1").await;
    let claims = claim(&db, 3, "w#1").await;
    db.run("INSERT INTO gen_durable (fsm, step, queue, correlation_key, correlation_scope) VALUES ('m', 'a', 'far', 'k', '{runnable}')").await;
    let retry = |c: &Claim| Transition::of(c, Change::Retry { after: Duration::ZERO, error: Some("x".into()) }, vec![]);
    let batch: Vec<_> = claims.iter().map(retry).collect();
    assert_eq!(db.store.commit(&batch).await.expect("commits"), [Committed::Done; 3]);
    let first = db.text("SELECT status::text || ': ' || last_error FROM gen_durable WHERE id = 1").await;
    assert_eq!(first, "failed: its business key has a newer occupant");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'runnable'").await, 3);
}
