//! Cost follows the batch: buffers touched per call, counted by the server, on a fresh table, after VACUUM ANALYZE,
//! with 200,000 rows, and with many rows executing or parked.

use std::time::Duration;

use gen_durable_runtime::{
    model::{
        Change, Claim, Committed, ConcurrencySlot, Deadline, Effects, Entry, Join, Json, StartSpec, Transition,
        Verdict,
        admission::{LimitConfig, LimitKind},
        plan,
    },
    store::{ClaimOrder, DatabaseOptions, Known, LimitDef},
};
use sqlx::Row;
use suite::{Db, order, start, store_options};

use crate::claims::{RULES, claim, known, signal, waiting};

suite::stores! {
    postgres {
        cost_follows_the_batch_and_not_the_table => "SQLite counts no buffers; `writes` counts the pages it writes",
        a_plan_made_while_the_table_was_nearly_empty_serves_when_it_is_large => "a statement's plan follows no statistics there until it is prepared anew",
        a_page_of_history_costs_the_same_wherever_it_stands => "every statement's plan is checked there",
        cost_under_limits_follows_the_batch_whatever_is_blocked_or_due_later => "every statement's plan is checked there",
        an_empty_claim_looks_at_a_handful_of_blocks_whatever_is_parked_or_due_later => "SQLite counts no buffers; `writes` counts the pages it writes",
        statements_are_counted => "SQLite counts no statements; `writes` counts transactions",
    }
}

/// Rows of each batch here.
const BATCH: usize = 100;
/// Blocks a row may cost in a claim or a commit: the heap's old and new page, and an insertion into each of about
/// eight indexes, two or three levels deep.
const BLOCKS_PER_ROW: i64 = 60;

pub(crate) async fn reset(db: &Db) {
    db.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0)").await;
}

/// Calls and blocks of the statement with this text in it, since the reset.
pub(crate) async fn cost(db: &Db, text: &str) -> (i64, i64) {
    let sql = "SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::bigint
        FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database() AND s.query LIKE '%' || $1 || '%' AND s.query NOT LIKE '%pg_stat_statements%'";
    let row = sqlx::query(sql).bind(text).fetch_one(db.pool()).await.expect("pg_stat_statements");
    (row.get(0), row.get(1))
}

async fn fill(db: &Db, rows: i32, status: &'static str) {
    let sql = "INSERT INTO gen_durable (fsm, step, status, eligible_at, lease_expires_at, locked_by, awaits, await_deadline)
        SELECT 'm', 'a', $2::durable_status, now() - interval '1 h', now() + interval '1 h', 'x#' || i, '{s}', now() + interval '1 d'
        FROM generate_series(1, $1) i";
    sqlx::query(sql).bind(rows).bind(status).execute(db.pool()).await.expect("fills");
}

/// Claims, commits in place, parks a part, ends: the cost of each statement per call.
async fn round(db: &Db, at: &str) -> Vec<(&'static str, i64)> {
    round_of(db, at, BATCH).await
}

async fn round_of(db: &Db, at: &str, rows: usize) -> Vec<(&'static str, i64)> {
    db.store.start(&vec![StartSpec { priority: Some(-1), ..start() }; rows]).await.expect("starts");
    reset(db).await;
    let claims = claim(db, 100, &format!("{at}#1")).await;
    assert_eq!(claims.len(), rows, "{at}");
    let goto = |c: &Claim, entry: Entry| {
        plan::outcome(c, Verdict::Goto { entry, delay: Duration::ZERO, carry: None }, RULES).expect("a plan")
    };
    let on =
        |c: &Claim| Transition { change: in_place(goto(c, suite::entry("b")).change), ..goto(c, suite::entry("b")) };
    let answers = db.store.commit(&claims.iter().map(on).collect::<Vec<_>>()).await.expect("commits");
    assert!(answers.iter().all(|a| *a == Committed::Kept), "{at}");
    let claims: Vec<Claim> = claims.into_iter().map(|c| Claim { transitions: 1, ..c }).collect();
    let park = |c: &Claim| goto(c, waiting(&["s"], Some(Deadline::After(Duration::from_secs(3_600)))));
    let answers = db.store.commit(&claims.iter().map(park).collect::<Vec<_>>()).await.expect("commits");
    assert!(answers.iter().all(|a| *a == Committed::Parked), "{at}");
    db.store.signal(&claims.iter().map(|c| signal(c.id, "s")).collect::<Vec<_>>()).await.expect("delivers");
    let woken = claim(db, 100, &format!("{at}#2")).await;
    let done = |c: &Claim| {
        let verdict = Verdict::Done { result: Json::stored("1"), carry: None };
        plan::outcome(c, verdict, RULES).expect("a plan")
    };
    let mine: Vec<_> = woken.iter().filter(|c| c.step == "w").map(done).collect();
    assert_eq!(mine.len(), rows, "{at}");
    db.store.commit(&mine).await.expect("commits");
    let mut costs = Vec::new();
    for (name, text) in
        [("claim", "AS of_key"), ("commit", "AS key_taken"), ("signal", "AS wake"), ("consume", "s.id <> ALL")]
    {
        let (calls, blocks) = cost(db, text).await;
        assert!(calls > 0, "{name} was not seen");
        costs.push((name, blocks / calls));
    }
    costs
}

fn in_place(change: Change) -> Change {
    match change {
        Change::Advance(a) => Change::Advance(Box::new(gen_durable_runtime::model::Advance { in_place: true, ..*a })),
        other => other,
    }
}

fn check(at: &str, costs: &[(&'static str, i64)]) {
    println!("{at}: blocks a call {costs:?}");
    let batch = i64::try_from(BATCH).expect("small");
    for (name, blocks) in costs {
        assert!(*blocks < BLOCKS_PER_ROW * batch, "{at}: {name} touches {blocks} blocks for {batch} rows");
    }
}

#[cfg(feature = "postgres")]
async fn cost_follows_the_batch_and_not_the_table(db: Db) {
    // Statistics are only what this test makes them.
    db.run(
        "ALTER TABLE gen_durable SET (autovacuum_enabled = off); ALTER TABLE signals SET (autovacuum_enabled = off)",
    )
    .await;
    check("empty, no statistics", &round(&db, "empty").await);
    db.run("VACUUM ANALYZE gen_durable").await;
    db.run("VACUUM ANALYZE signals").await;
    check("empty, analyzed: nothing executes", &round(&db, "analyzed").await);
    fill(&db, 200_000, "runnable").await;
    check("200,000 runnable, statistics of an empty table", &round(&db, "stale").await);
    db.run("VACUUM ANALYZE gen_durable").await;
    check("200,000 runnable, analyzed", &round(&db, "large").await);
    fill(&db, 50_000, "executing").await;
    fill(&db, 50_000, "awaiting_signal").await;
    fill(&db, 50_000, "done").await;
    check("150,000 others, statistics without them", &round(&db, "mixed").await);
    db.run("VACUUM ANALYZE gen_durable").await;
    check("150,000 others, analyzed", &round(&db, "mixed, analyzed").await);
}

/// A parent, its children, their ends: the cost of the look at parents, and of their counting.
#[cfg(feature = "postgres")]
async fn family(db: &Db, at: &str, rows: usize) -> Vec<(&'static str, i64)> {
    let urgent = |spec: StartSpec| StartSpec { priority: Some(-1), ..spec };
    db.store.start(&[urgent(start())]).await.expect("starts");
    let parent = claim(db, 1, &format!("{at}#p")).await.remove(0);
    let entry = Entry { join: Some(Join { quorum: None, deadline: None }), ..suite::entry("b") };
    let children = vec![urgent(start()); rows];
    let verdict = Verdict::Goto { entry, delay: Duration::ZERO, carry: None };
    let effects = Effects { children, ..Effects::default() };
    let parks = plan::outcome_with(&parent, verdict, effects, RULES).expect("a plan");
    assert_eq!(*db.store.commit(&[parks]).await.expect("commits"), [Committed::Parked], "{at}");
    reset(db).await;
    let done =
        |c: &Claim| plan::outcome(c, Verdict::Done { result: Json::stored("1"), carry: None }, RULES).expect("a plan");
    let ends: Vec<Transition> = claim(db, 100, &format!("{at}#c")).await.iter().map(done).collect();
    assert_eq!(ends.len(), rows, "{at}");
    assert!(db.store.commit(&ends).await.expect("commits").wakes.contains("default"), "{at}");
    let mut costs = Vec::new();
    for (name, text) in [("parents", "AS absent_key"), ("join", "AS is_over"), ("ends", "i.waited_for AND")] {
        let (calls, blocks) = cost(db, text).await;
        costs.push((name, blocks / calls.max(1)));
    }
    db.run("DELETE FROM gen_durable WHERE priority = -1").await;
    costs
}

/// Analyzed while it was nearly empty, so that a walk over all of it looked as good as a look by an index.
#[cfg(feature = "postgres")]
async fn a_plan_made_while_the_table_was_nearly_empty_serves_when_it_is_large(mut db: Db) {
    let off = "SET (autovacuum_enabled = off)";
    db.run(format!("ALTER TABLE gen_durable {off}; ALTER TABLE signals {off}; ALTER TABLE gen_durable_history {off}"))
        .await;
    fill(&db, 1, "done").await;
    for table in ["gen_durable", "signals", "gen_durable_history"] {
        db.run(format!("VACUUM ANALYZE {table}")).await;
    }
    // One connection: the plans are its own.
    let one = DatabaseOptions { pool_size: 1, ..store_options(&db.url) }.open().expect("a store");
    db.store = one;
    family(&db, "nearly empty", 1).await;
    round_of(&db, "nearly empty", 1).await;
    fill(&db, 200_000, "runnable").await;
    check("200,000 runnable, plans of one row", &round(&db, "large").await);
    check("200,000 runnable, plans of one row", &family(&db, "large", BATCH).await);
    db.store.close().await.expect("closes");
}

/// Rows of a gate that half of the batch passes: claimed, set aside, ended, woken.
#[cfg(feature = "postgres")]
async fn round_under_limits(db: &Db, at: &str) -> Vec<(&'static str, i64)> {
    let slot = ConcurrencySlot { key: "door:1".into(), limit: Some(50) };
    let entry = Entry { concurrency: Some(slot), ..suite::entry("a") };
    db.store.start(&vec![StartSpec { entry, priority: Some(-1), ..start() }; BATCH]).await.expect("starts");
    reset(db).await;
    let known = known();
    let token = format!("{at}#l");
    let claimed = db.store.claim(&ClaimOrder { limits: true, ..order(&known, 100, &token) }).await.expect("claims");
    assert_eq!(claimed.claims.iter().filter(|c| c.slot.is_some()).count(), 50, "{at}");
    let done = |c: &Claim| {
        let verdict = Verdict::Done { result: Json::stored("1"), carry: None };
        plan::outcome(c, verdict, RULES).expect("a plan")
    };
    let commits = db.store.commit(&claimed.claims.iter().map(done).collect::<Vec<_>>()).await.expect("commits");
    assert_eq!(commits.released, [("door:1".to_owned(), 50)]);
    db.store.unblock(&commits.released).await.expect("wakes");
    let mut costs = Vec::new();
    for (name, text) in [
        ("candidates", "AS was_blocked"),
        ("counters", "AS stand"),
        ("take", "concurrency_shard = chosen.slot"),
        ("aside", "due_at = coalesce(g.due_at"),
        ("credit", "back.slots"),
        ("unblock", "LIMIT f.slots"),
    ] {
        let (calls, blocks) = cost(db, text).await;
        assert!(calls > 0, "{name} was not seen");
        costs.push((name, blocks / calls));
    }
    db.run("DELETE FROM gen_durable WHERE concurrency_key = 'door:1'").await;
    costs
}

#[cfg(feature = "postgres")]
async fn cost_under_limits_follows_the_batch_whatever_is_blocked_or_due_later(db: Db) {
    let config = LimitConfig { capacity: 50.0, rate: 0.0, shards: 2 };
    let gate = LimitDef { kind: LimitKind::Gate, name: "door".into(), config };
    db.store.define_limits(&[gate], false).await.expect("sets");
    db.run("ALTER TABLE gen_durable SET (autovacuum_enabled = off)").await;
    check("empty, no statistics", &round_under_limits(&db, "empty").await);
    db.run("VACUUM ANALYZE gen_durable").await;
    db.run(
        "INSERT INTO gen_durable (fsm, step, eligible_at, due_at, blocked_by, concurrency_key)
         SELECT 'm', 'a', 'infinity', now(), 'key:door:2', 'door:2' FROM generate_series(1, 100000)",
    )
    .await;
    db.run(
        "INSERT INTO gen_durable (fsm, step, priority, eligible_at)
         SELECT 'm', 'a', -5, now() + interval '30 d' FROM generate_series(1, 100000)",
    )
    .await;
    db.run("INSERT INTO gen_durable_buckets (kind, key, shard, capacity, available) SELECT 'conc', 'door:x' || i, 0, 25, 25 FROM generate_series(1, 20000) i").await;
    check("200,000 others, statistics of an empty table", &round_under_limits(&db, "stale").await);
    db.run("VACUUM ANALYZE gen_durable").await;
    db.run("VACUUM ANALYZE gen_durable_buckets").await;
    check("200,000 others, analyzed", &round_under_limits(&db, "large").await);
}

#[cfg(feature = "postgres")]
async fn an_empty_claim_looks_at_a_handful_of_blocks_whatever_is_parked_or_due_later(db: Db) {
    fill(&db, 50_000, "awaiting_signal").await;
    fill(&db, 50_000, "done").await;
    db.run("INSERT INTO gen_durable (fsm, step, eligible_at) SELECT 'm', 'a', now() + interval '30 d' FROM generate_series(1, 50000)").await;
    db.run("VACUUM ANALYZE gen_durable").await;
    let known = known();
    let empty = order(&known, 10, "w#1");
    db.store.claim(&empty).await.expect("claims");
    reset(&db).await;
    assert_eq!(db.store.claim(&empty).await.expect("claims").claims.len(), 0);
    let (calls, blocks) = cost(&db, "AS of_key").await;
    assert_eq!(calls, 1);
    println!("an empty claim: {blocks} blocks");
    assert!(blocks < 1_000, "{blocks} blocks");
}

#[cfg(feature = "postgres")]
async fn a_page_of_history_costs_the_same_wherever_it_stands(db: Db) {
    db.run(
        "INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, started_at)
         SELECT 1 + i % 2, i, 'a', 'retry', 0, now() FROM generate_series(1, 200000) i",
    )
    .await;
    let instance = gen_durable_runtime::model::InstanceId::new(1);
    for after in [0, 100_000, 199_000] {
        reset(&db).await;
        let page = db.store.history(instance, after, 100).await.expect("reads");
        assert!(page.len() == 100 && page[0].id > after && page[0].id <= after + 2, "{after}: {}", page.len());
        let (calls, blocks) = cost(&db, "gen_durable_history h").await;
        println!("a page of history after {after}: {blocks} blocks");
        assert!(calls == 1 && blocks < 20, "after {after}: {blocks} blocks");
    }
}

#[cfg(feature = "postgres")]
async fn statements_are_counted(db: Db) {
    let statements = async |db: &Db| {
        let sql =
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
            WHERE d.datname = current_database() AND s.query NOT LIKE '%pg_stat_statements%'";
        sqlx::query_scalar::<_, i64>(sql).fetch_one(db.pool()).await.expect("counts")
    };
    let known: Known = known();
    let empty = order(&known, 100, "w#0");
    db.store.claim(&empty).await.expect("claims");
    reset(&db).await;
    db.store.claim(&empty).await.expect("claims");
    assert_eq!(statements(&db).await, 1, "an empty claim");

    reset(&db).await;
    db.store.start(&[start()]).await.expect("starts");
    assert_eq!(statements(&db).await, 1, "a start");

    db.store.start(&vec![start(); 99]).await.expect("starts");
    reset(&db).await;
    let claims = claim(&db, 100, "w#1").await;
    assert_eq!((claims.len(), statements(&db).await), (100, 1), "a claim");

    reset(&db).await;
    let park = |c: &Claim| {
        let verdict = Verdict::Goto { entry: waiting(&["s"], None), delay: Duration::ZERO, carry: None };
        plan::outcome(c, verdict, RULES).expect("a plan")
    };
    db.store.commit(&claims.iter().map(park).collect::<Vec<_>>()).await.expect("commits");
    assert!(statements(&db).await <= 4, "a commit that parks: {}", statements(&db).await);

    reset(&db).await;
    db.store.signal(&[signal(claims[0].id, "s")]).await.expect("delivers");
    assert_eq!(statements(&db).await, 1, "a signal");

    db.store.signal(&claims[1..].iter().map(|c| signal(c.id, "s")).collect::<Vec<_>>()).await.expect("delivers");
    let woken = claim(&db, 100, "w#2").await;
    reset(&db).await;
    // Everything a batch can hold at once: parks, signals consumed, ends, retries, a lost claim.
    let mut batch: Vec<Transition> = woken[..40].iter().map(park).collect();
    let done = |c: &Claim| {
        let verdict = Verdict::Done { result: Json::stored("1"), carry: None };
        plan::outcome(c, verdict, RULES).expect("a plan")
    };
    batch.extend(woken[40..80].iter().map(done));
    batch.extend(woken[80..].iter().map(plan::release));
    batch[99].token = suite::token("lost#1");
    let answers = db.store.commit(&batch).await.expect("commits");
    assert_eq!(answers[99], Committed::ClaimLost);
    let counted = statements(&db).await;
    assert!(counted <= 6, "a commit of everything: {counted}");
}
