//! A long transaction elsewhere: what died since it began cannot be cleaned up.

use suite::{Db, order, start};

use crate::{
    claims::known,
    plans::{cost, reset},
};

suite::stores! {
    postgres {
        an_old_snapshot_elsewhere_costs_a_claim_no_more_than_it_costs_bare_sql => "readers of a file hold up no cleaning of its rows",
    }
}

const COME: &str =
    "INSERT INTO gen_durable (fsm, step, status) SELECT 'm', 'a', 'runnable' FROM generate_series(1, 5000)";
const RUN: &str = "UPDATE gen_durable SET status = 'executing', locked_by = 'x#1', lease_expires_at = now() WHERE status = 'runnable'";
const GO: &str = "UPDATE gen_durable SET status = 'done', lease_expires_at = NULL WHERE status = 'executing'";
/// What any queue in a table asks.
const BARE: &str =
    "SELECT g.id FROM gen_durable g WHERE g.queue = 'default' AND g.status = 'runnable' AND g.eligible_at <= now()
    ORDER BY g.priority, g.eligible_at LIMIT 100 FOR UPDATE SKIP LOCKED";

/// Blocks of a claim of 100.
async fn claimed(db: &Db) -> i64 {
    db.store.start(&vec![start(); 100]).await.expect("starts");
    reset(db).await;
    let claims = db.store.claim(&order(&known(), 100, "pinned#1")).await.expect("claims").claims;
    assert_eq!(claims.len(), 100);
    let (_, blocks) = cost(db, "").await;
    db.run("DELETE FROM gen_durable WHERE locked_by = 'pinned#1'").await;
    blocks
}

/// O-64. Dead rows are walked as long as the old transaction stands, by whoever looks; and by nobody afterwards.
async fn an_old_snapshot_elsewhere_costs_a_claim_no_more_than_it_costs_bare_sql(db: Db) {
    db.run("ALTER TABLE gen_durable SET (autovacuum_enabled = off)").await;
    let base = claimed(&db).await;
    let mut old = db.pool().begin().await.expect("begins");
    for statement in ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM gen_durable"] {
        sqlx::query(statement).execute(&mut *old).await.expect("pins");
    }
    for statement in [COME, RUN, GO, COME, RUN, GO] {
        db.run(statement).await;
    }
    let pinned = claimed(&db).await;
    reset(&db).await;
    db.run(BARE).await;
    let (_, bare) = cost(&db, "SELECT g.id FROM gen_durable g WHERE g.queue = ").await;
    println!("blocks of a claim: {base}, under an old snapshot {pinned}, of bare SQL {bare}");
    assert!(bare > 200, "nothing is pinned: {bare}");
    // Once for the first priority, once for its rows, and a part of the latter when they are locked.
    assert!(pinned <= base + 3 * bare + 100, "{pinned} beside {bare}");
    old.rollback().await.expect("ends");
    db.run("VACUUM gen_durable").await;
    let after = claimed(&db).await;
    assert!(after <= base + base / 2 + 100, "{after} instead of {base}");
}
