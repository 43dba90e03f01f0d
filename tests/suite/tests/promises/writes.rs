//! What a call writes to the file: transactions and pages, counted in its write-ahead log.

use std::time::Duration;

use gen_durable_runtime::model::{Claim, Committed, Deadline, Json, StartSpec, Transition, Verdict, plan};
use suite::{Db, Wal, Written, order, start};

use crate::claims::{RULES, claim, goto, known, signal, waiting};

suite::stores! {
    sqlite {
        a_call_is_one_transaction_of_the_file => "counted as statements there",
        a_look_that_finds_nothing_writes_nothing => "counted as blocks there",
        pages_written_follow_the_batch_and_not_the_table => "counted as blocks there",
    }
}

/// Rows of each batch here.
const BATCH: usize = 100;
/// Pages a row may cost: its own, and one in each of five indexes, old place and new.
const PAGES_PER_ROW: usize = 12;
const NOTHING: Written = Written { transactions: 0, pages: 0 };

fn done(claim: &Claim) -> Transition {
    plan::outcome(claim, Verdict::Done { result: Json::stored("1"), carry: None }, RULES).expect("a plan")
}

fn park(claim: &Claim) -> Transition {
    goto(claim, waiting(&["s"], Some(Deadline::After(Duration::from_secs(3_600)))))
}

fn all<T>(claims: &[Claim], each: impl Fn(&Claim) -> T) -> Vec<T> {
    claims.iter().map(each).collect()
}

/// Starts, claims, parks, signals, claims again, ends, renews: what each wrote.
async fn round(db: &Db, at: &str) -> Vec<(&'static str, Written)> {
    let wal = Wal::of(db).await;
    let mut costs = Vec::new();
    let mut note = async |what| {
        costs.push((what, wal.written()));
        wal.empty(db).await;
    };
    db.store.start(&vec![StartSpec { priority: Some(-1), ..start() }; BATCH]).await.expect("starts");
    note("start").await;
    let claims = claim(db, 100, &format!("{at}#1")).await;
    assert_eq!(claims.len(), BATCH, "{at}");
    note("claim").await;
    let held: Vec<_> = claims.iter().map(|c| (c.id, c.token.clone())).collect();
    db.store.renew(&held, Duration::from_secs(60)).await.expect("renews");
    note("renew").await;
    let parked = db.store.commit(&all(&claims, park)).await.expect("commits");
    assert!(parked.iter().all(|answer| *answer == Committed::Parked), "{at}");
    note("park").await;
    db.store.signal(&all(&claims, |c| signal(c.id, "s"))).await.expect("delivers");
    note("signal").await;
    let woken = claim(db, 100, &format!("{at}#2")).await;
    assert_eq!(woken.len(), BATCH, "{at}");
    note("claim of woken").await;
    let ended = db.store.commit(&all(&woken, done)).await.expect("commits");
    assert!(ended.iter().all(|answer| *answer == Committed::Done), "{at}");
    note("end").await;
    costs
}

async fn fill(db: &Db, rows: usize, status: &str) {
    db.run(format!(
        "INSERT INTO gen_durable (fsm, step, status, eligible_at, lease_expires_at, locked_by, awaits, await_deadline)
         SELECT 'm', 'a', '{status}', now() - interval '1 h', now() + interval '1 h', 'x#' || i, '{{s}}',
         now() + interval '1 d' FROM generate_series(1, {rows}) i"
    ))
    .await;
}

async fn a_call_is_one_transaction_of_the_file(db: Db) {
    for (call, written) in round(&db, "w").await {
        assert_eq!(written.transactions, 1, "{call}: {written:?}");
    }
}

async fn a_look_that_finds_nothing_writes_nothing(db: Db) {
    fill(&db, 1_000, "awaiting_signal").await;
    fill(&db, 1_000, "executing").await;
    let known = known();
    let wal = Wal::of(&db).await;
    assert_eq!(db.store.claim(&order(&known, 100, "w#1")).await.expect("claims").claims.len(), 0);
    assert_eq!(wal.written(), NOTHING, "a claim");
    assert_eq!(db.store.reap(1_000).await.expect("reaps").rows, 0);
    assert_eq!(wal.written(), NOTHING, "a reap");
    assert_eq!(db.store.end_waits(1_000).await.expect("ends waits").rows, 0);
    assert_eq!(wal.written(), NOTHING, "an end of waits");
    let lost = [(db.store.start(&[start()]).await.expect("starts")[0].id(), suite::token("lost#1"))];
    wal.empty(&db).await;
    assert_eq!(db.store.renew(&lost, Duration::from_secs(60)).await.expect("answers").lost.len(), 1);
    assert_eq!(wal.written(), NOTHING, "a renewal of what is lost");
    db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s' WHERE status = 'executing'").await;
    wal.empty(&db).await;
    assert_eq!(db.store.reap(1_000).await.expect("reaps").rows, 1_000);
    assert_eq!(wal.written().transactions, 1, "the log is looked at");
}

async fn pages_written_follow_the_batch_and_not_the_table(db: Db) {
    let rows = suite::size(200_000);
    let check = |at: &str, costs: Vec<(&'static str, Written)>| {
        println!("{at}: {costs:?}");
        for (call, Written { pages, .. }) in costs {
            assert!(pages < PAGES_PER_ROW * BATCH, "{at}: {call} writes {pages} pages for {BATCH} rows");
        }
    };
    check("empty", round(&db, "empty").await);
    fill(&db, rows, "runnable").await;
    check("many runnable", round(&db, "runnable").await);
    for status in ["executing", "awaiting_signal", "done"] {
        fill(&db, rows / 4, status).await;
    }
    check("and many others", round(&db, "others").await);
    db.run("ANALYZE").await;
    check("analyzed", round(&db, "analyzed").await);
}
