//! Parents and children: who may still be read stays, and whole trees go in the end.

use suite::Db;

use crate::{fill, left, of_m, pass, piece};

suite::stores! {
    both {
        a_child_stays_while_its_parent_may_read_it,
        a_child_that_is_kept_longer_outlives_its_parent_and_forgets_it,
        a_parent_of_thousands_goes_in_pieces,
        a_tree_goes_in_the_end,
    }
}

/// A parent `p` in this status with a child `m` that is due.
async fn family(db: &Db, status: &str) {
    fill(db, "p", status, 1, 0).await;
    fill(db, "m", "done", 1, 8).await;
    db.run("UPDATE gen_durable SET parent_id = (SELECT id FROM gen_durable WHERE fsm = 'p') WHERE fsm = 'm'").await;
}

async fn a_child_stays_while_its_parent_may_read_it(db: Db) {
    for status in ["runnable", "executing", "awaiting_signal", "awaiting_children", "failed"] {
        family(&db, status).await;
        assert_eq!((piece(&db, &of_m(), 100).await.due, left(&db, "m", "done").await), (0, 1), "{status}");
        // It may be retried as long as it is there.
        db.run("UPDATE gen_durable SET updated_at = now() - interval '30 d' WHERE fsm = 'p'").await;
        assert_eq!(piece(&db, &of_m(), 100).await.due, 0, "{status}");
        db.run("UPDATE gen_durable SET status = 'done' WHERE fsm = 'p'").await;
        assert_eq!((piece(&db, &of_m(), 100).await.gone, left(&db, "p", "done").await), (1, 1), "{status}");
        db.run("DELETE FROM gen_durable").await;
    }
    family(&db, "failed").await;
    db.run("DELETE FROM gen_durable WHERE fsm = 'p'").await;
    assert_eq!(piece(&db, &of_m(), 100).await.gone, 1, "nobody is left who may read it");
}

/// One that still runs, and one of another machine that is kept.
async fn a_child_that_is_kept_longer_outlives_its_parent_and_forgets_it(db: Db) {
    for status in ["done", "failed"] {
        fill(&db, "m", status, 1, 8).await;
        fill(&db, "n", "runnable", 1, 8).await;
        fill(&db, "n", "failed", 1, 8).await;
        db.run("UPDATE gen_durable SET parent_id = (SELECT id FROM gen_durable WHERE fsm = 'm'), parent_round = 1 WHERE fsm = 'n'").await;
        let rows = "SELECT count(*) FROM gen_durable WHERE fsm = 'n' AND parent_round = 1 AND updated_at < now() - interval '7 d' AND parent_id IS";
        assert_eq!((db.count(format!("{rows} NOT NULL")).await, db.count(format!("{rows} NULL")).await), (2, 0));
        let purged = piece(&db, &of_m(), 100).await;
        assert_eq!((purged.gone, purged.cleared), (1, 2), "{status}");
        assert_eq!((db.count(format!("{rows} NOT NULL")).await, db.count(format!("{rows} NULL")).await), (0, 2));
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn a_parent_of_thousands_goes_in_pieces(db: Db) {
    fill(&db, "m", "done", 2, 8).await;
    fill(&db, "n", "done", 12_000, 8).await;
    db.run("UPDATE gen_durable SET parent_id = (SELECT min(id) FROM gen_durable) WHERE fsm = 'n'").await;
    let first = piece(&db, &of_m(), 100).await;
    assert_eq!((first.gone, first.cleared), (1, 10_000));
    assert_eq!(left(&db, "m", "done").await, 1);
    let second = piece(&db, &of_m(), 100).await;
    assert_eq!((second.gone, second.cleared, left(&db, "n", "done").await), (1, 2_000, 12_000));
}

/// Every parent has three children; the root has failed.
async fn a_tree_goes_in_the_end(db: Db) {
    fill(&db, "m", "failed", 40, 8).await;
    db.run(
        "UPDATE gen_durable SET parent_id = r.id + (gen_durable.id - r.id - 1) / 3, status = 'done'
         FROM (SELECT min(id) AS id FROM gen_durable) AS r WHERE gen_durable.id > r.id",
    )
    .await;
    // Its children stay while it is there; those of whom is done go.
    let (first, _) = pass(&db, &of_m(), 100).await;
    assert_eq!((first, left(&db, "m", "failed").await), (37, 0));
    assert_eq!(pass(&db, &of_m(), 100).await.0, 3);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 0);
}
