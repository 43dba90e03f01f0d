//! Flat growth: what one claim touches does not grow with what is due later, set aside, ended, executing or due behind it.
//! A part of its size, or up to a million rows of each with `GEN_DURABLE_LONG=1`.

use gen_durable_runtime::{
    model::{
        ConcurrencySlot, Entry, StartSpec,
        admission::{LimitConfig, LimitKind},
    },
    store::{ClaimOrder, LimitDef},
};
use suite::{Db, is_long, order, start};

use crate::{
    claims::known,
    plans::{cost, reset},
};

suite::stores! {
    postgres {
        a_claim_touches_as_many_blocks_beside_a_million_rows_as_beside_none => "SQLite counts no blocks; every statement's plan is checked there",
    }
}

/// What fills the table, so many rows each; the work that is claimed has priority 0. Moments differ: an index holds equal ones
/// in few pages.
const KINDS: [(&str, &str); 5] = [
    ("due later, more urgent", "'runnable', -5, now() + interval '30 d' + i * interval '1 ms', NULL, NULL, NULL"),
    ("set aside", "'runnable', 0, 'infinity', NULL, 'key:door:2', now()"),
    ("done", "'done', 0, now(), NULL, NULL, NULL"),
    ("executing", "'executing', 0, now(), now() + interval '1 d', NULL, NULL"),
    ("due behind it", "'runnable', 5, now() - interval '1 h' + i * interval '1 ms', NULL, NULL, NULL"),
];

async fn fill(db: &Db, values: &str, rows: usize) {
    db.run(format!(
        "INSERT INTO gen_durable (fsm, step, status, priority, eligible_at, lease_expires_at, blocked_by, due_at)
         SELECT 'm', 'a', {values} FROM generate_series(1, {rows}) i"
    ))
    .await;
}

/// Blocks of everything that one claim asks.
async fn claimed(db: &Db, rows: u32, limits: bool) -> i64 {
    let slot = ConcurrencySlot { key: "door:1".into(), limit: Some(50) };
    let entry = Entry { concurrency: limits.then_some(slot), ..suite::entry("a") };
    let work = vec![StartSpec { entry, priority: Some(0), ..start() }; rows as usize];
    db.store.start(&work).await.expect("starts");
    reset(db).await;
    let known = known();
    let order = ClaimOrder { limits, ..order(&known, rows.max(1), "flat#1") };
    let claims = db.store.claim(&order).await.expect("claims").claims.len();
    let (_, blocks) = cost(db, "").await;
    assert_eq!(claims, if limits { 50 } else { rows as usize });
    db.run("DELETE FROM gen_durable WHERE locked_by = 'flat#1' OR concurrency_key = 'door:1'").await;
    db.run("DELETE FROM gen_durable_buckets").await;
    blocks
}

/// Name, rows, under limits. Where others are due as well, no claim is empty, and one under limits takes them too.
type Kind = (&'static str, u32, bool);
const PLAIN: [Kind; 2] = [("of 1", 1, false), ("of 100", 100, false)];
const ALL: [Kind; 4] = [PLAIN[0], PLAIN[1], ("of none", 0, false), ("under limits", 100, true)];

async fn costs(db: &Db, claims: &[Kind]) -> Vec<i64> {
    let mut blocks = Vec::new();
    for (_, rows, limits) in claims {
        // The first one marks what is dead in the indexes.
        claimed(db, *rows, *limits).await;
        blocks.push(claimed(db, *rows, *limits).await);
    }
    blocks
}

/// A few levels more of some indexes.
fn check(at: &str, claims: &[Kind], base: &[i64], now: &[i64]) {
    println!("{at}: blocks {now:?}");
    for (((what, ..), base), now) in claims.iter().zip(base).zip(now) {
        assert!(*now <= base + base / 2 + 100, "{at}: a claim {what} touches {now} blocks instead of {base}");
    }
}

#[cfg(feature = "postgres")]
async fn a_claim_touches_as_many_blocks_beside_a_million_rows_as_beside_none(db: Db) {
    let config = LimitConfig { capacity: 50.0, rate: 0.0, shards: 2 };
    let gate = LimitDef { kind: LimitKind::Gate, name: "door".into(), config };
    db.store.define_limits(&[gate], false).await.expect("sets");
    db.run("ALTER TABLE gen_durable SET (autovacuum_enabled = off)").await;
    let base = costs(&db, &ALL).await;
    println!("empty: blocks {base:?}");
    let rows = if is_long() { 1_000_000 } else { 50_000 };
    for (kind, values) in KINDS {
        let claims: &[Kind] = if kind == "due behind it" { &PLAIN } else { &ALL };
        fill(&db, values, rows).await;
        check(&format!("{rows} {kind}, statistics without them"), claims, &base, &costs(&db, claims).await);
        db.run("VACUUM ANALYZE gen_durable").await;
        check(&format!("{rows} {kind}, analyzed"), claims, &base, &costs(&db, claims).await);
    }
}
