//! Cost follows the piece: whatever others keep longer, and however much.

#[cfg(feature = "postgres")]
use gen_durable_runtime::{
    model::Cursor,
    store::{KeyExpiry, Purge},
};
#[cfg(feature = "postgres")]
use suite::Db;

#[cfg(feature = "postgres")]
use crate::{DAY, fill, of_m};

suite::stores! {
    postgres {
        a_piece_costs_the_same_whatever_is_kept_longer => "SQLite counts no blocks; every statement's plan is checked there",
        statements_of_a_piece_are_counted => "SQLite counts no statements",
    }
}

/// Rows of a piece here.
#[cfg(feature = "postgres")]
const PIECE: u32 = 100;

#[cfg(feature = "postgres")]
async fn reset(db: &Db) {
    db.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0)").await;
}

/// Calls and blocks of all statements since the reset; what foreign keys look up counts as their statement's.
#[cfg(feature = "postgres")]
async fn cost(db: &Db, what: &str) -> i64 {
    db.count(format!(
        "SELECT coalesce(sum({what}), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
         WHERE d.datname = current_database() AND s.toplevel AND s.query NOT LIKE '%pg_stat_statements%'"
    ))
    .await
}

#[cfg(feature = "postgres")]
async fn look(db: &Db, cursor: &mut Cursor) -> (usize, bool) {
    let purge = Purge { age: 7 * DAY, ended: &of_m(), from: cursor.from, look: cursor.look, limit: PIECE };
    let purged = db.store.purge(&purge).await.expect("looks");
    let more = cursor.advance(PIECE, &purged);
    (purged.gone, more)
}

/// Passes what is there, then lets one piece go; answers with its blocks, and those of a look that finds nothing.
#[cfg(feature = "postgres")]
async fn round(db: &Db, at: &str) -> (i64, i64) {
    const BLOCKS: &str = "shared_blks_hit + shared_blks_read";
    let mut cursor = Cursor::new(PIECE);
    while look(db, &mut cursor).await.1 {}
    fill(db, "m", "done", 100, 7).await;
    db.run(
        "INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, started_at)
            SELECT id, 0, 'a', 'done', 0, now() FROM gen_durable WHERE fsm = 'm'",
    )
    .await;
    reset(db).await;
    assert_eq!(look(db, &mut cursor).await.0, 100, "{at}");
    let piece = cost(db, BLOCKS).await;
    while look(db, &mut cursor).await.1 {}
    reset(db).await;
    assert_eq!(look(db, &mut cursor).await, (0, false), "{at}");
    let nothing = cost(db, BLOCKS).await;
    println!("{at}: {piece} blocks for {PIECE} rows, {nothing} for a look that finds nothing");
    (piece, nothing)
}

#[cfg(feature = "postgres")]
async fn a_piece_costs_the_same_whatever_is_kept_longer(db: Db) {
    let many = suite::size(1_000_000);
    // Statistics are only what this test makes them.
    for table in ["gen_durable", "gen_durable_history", "signals"] {
        db.run(format!("ALTER TABLE {table} SET (autovacuum_enabled = off)")).await;
    }
    let mut rounds = vec![round(&db, "empty").await];
    for days in 8..18 {
        fill(&db, "kept", "done", many / 20, days).await;
        fill(&db, "kept", "failed", many / 20, days).await;
    }
    db.run("INSERT INTO signals (target_id, name, dedup_key, consumed_at) SELECT id, 's', 'd', now() FROM gen_durable WHERE status = 'failed'").await;
    db.run(
        "INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, started_at)
         SELECT id, 0, 'a', 'done', 0, now() FROM gen_durable WHERE status = 'done'",
    )
    .await;
    rounds.push(round(&db, "many are kept longer, statistics of an empty table").await);
    for table in ["gen_durable", "gen_durable_history", "signals"] {
        db.run(format!("VACUUM ANALYZE {table}")).await;
    }
    rounds.push(round(&db, "many are kept longer, analyzed").await);
    // A row and its line go from two tables and their indexes, and its foreign keys are looked up.
    for (piece, nothing) in &rounds {
        assert!(*piece < 60 * i64::from(PIECE) && *nothing < 100, "{rounds:?}");
        assert!(*piece < 2 * rounds[0].0, "{rounds:?}");
    }
    reset(&db).await;
    let (after, machines) = (db.count("SELECT max(id) - 100 FROM signals").await, [("kept".to_owned(), 1)]);
    let expiry = KeyExpiry { age: 7 * DAY, machines: &machines, after, limit: PIECE };
    db.store.expire_keys(&expiry).await.expect("looks");
    let keys = cost(&db, "shared_blks_hit + shared_blks_read").await;
    println!("{keys} blocks for a look at {PIECE} signals");
    assert!(keys < 10 * i64::from(PIECE), "{keys}");
}

#[cfg(feature = "postgres")]
async fn statements_of_a_piece_are_counted(db: Db) {
    let mut cursor = Cursor::new(PIECE);
    reset(&db).await;
    assert_eq!(look(&db, &mut cursor).await, (0, false));
    assert_eq!(cost(&db, "calls").await, 1, "a look that finds nothing");
    fill(&db, "m", "done", 50, 7).await;
    reset(&db).await;
    assert_eq!(look(&db, &mut cursor).await.0, 50);
    assert_eq!(cost(&db, "calls").await, 8, "look, begin, hold, children, lines, delete, slots, commit");
}
