//! One piece: who goes, what goes along, what stays.

use gen_durable_runtime::{
    model::{Cursor, InstanceId, Json, SignalSpec, StartSpec, Started, Status, Target},
    store::{Delivered, Ended, Purge},
};
use suite::Db;

use crate::{DAY, ended, fill, left, of_m, pass, piece};

suite::stores! {
    both {
        what_ended_long_ago_goes_by_machine_version_and_outcome,
        what_has_not_ended_stays_however_old,
        with_an_instance_go_its_inbox_its_history_and_its_slots,
        a_piece_is_bounded_and_takes_the_oldest,
        a_long_history_goes_in_pieces_and_its_instance_with_the_last,
        large_inboxes_go_one_by_one,
        a_kept_key_is_free_once_its_instance_is_gone,
        a_signal_to_one_that_went_finds_nobody,
        who_cannot_go_holds_up_nobody,
        a_crowd_that_others_keep_longer_is_passed_once,
        a_moment_beyond_the_calendar_stops_nothing,
    }
}

async fn what_ended_long_ago_goes_by_machine_version_and_outcome(db: Db) {
    for machine in ["m", "n"] {
        for status in ["done", "failed"] {
            fill(&db, machine, status, 1, 8).await;
            fill(&db, machine, status, 1, 6).await;
        }
    }
    db.run("INSERT INTO gen_durable (fsm, fsm_version, step, status, updated_at) VALUES ('m', 2, 'a', 'done', now() - interval '8 d')").await;
    let gone = async |of: &[Ended]| piece(&db, of, 100).await.gone;
    assert_eq!(gone(&[]).await, 0);
    assert_eq!(gone(&[ended("m", 3, Status::Done), ended("mm", 1, Status::Done)]).await, 0, "known to nobody");
    assert_eq!(gone(&[ended("m", 1, Status::Done)]).await, 1);
    assert_eq!((left(&db, "m", "done").await, left(&db, "m", "failed").await), (2, 2));
    assert_eq!(gone(&[ended("m", 2, Status::Done), ended("n", 1, Status::Failed)]).await, 2);
    let all = [
        left(&db, "m", "done").await,
        left(&db, "m", "failed").await,
        left(&db, "n", "done").await,
        left(&db, "n", "failed").await,
    ];
    assert_eq!(all, [1, 2, 2, 1]);
}

async fn what_has_not_ended_stays_however_old(db: Db) {
    for status in ["runnable", "executing", "awaiting_signal", "awaiting_children"] {
        fill(&db, "m", status, 1, 8).await;
    }
    assert_eq!(piece(&db, &of_m(), 100).await.seen, 0);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 4);
}

async fn with_an_instance_go_its_inbox_its_history_and_its_slots(db: Db) {
    fill(&db, "m", "failed", 1, 8).await;
    fill(&db, "m", "failed", 1, 6).await;
    db.run("INSERT INTO signals (target_id, name, dedup_key, consumed_at) SELECT id, 's', 'd', now() FROM gen_durable")
        .await;
    db.run("INSERT INTO signals (target_id, name) SELECT id, 's' FROM gen_durable").await;
    db.run(
        "INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, started_at, committed_at)
         SELECT id, 0, 'a', 'failed', 0, now(), now() FROM gen_durable",
    )
    .await;
    db.run("INSERT INTO gen_durable_held (instance_id, key, shard) SELECT id, 'k', 0 FROM gen_durable").await;
    assert_eq!(piece(&db, &of_m(), 100).await.gone, 1);
    for (rows, what) in [(2, "signals"), (1, "gen_durable_history"), (1, "gen_durable_held"), (1, "gen_durable")] {
        assert_eq!(db.count(format!("SELECT count(*) FROM {what}")).await, rows, "{what}");
    }
}

async fn a_piece_is_bounded_and_takes_the_oldest(db: Db) {
    for days in [8, 10, 9] {
        fill(&db, "m", "done", 20, days).await;
    }
    let first = piece(&db, &of_m(), 15).await;
    assert_eq!((first.seen, first.due, first.gone), (60, 15, 15));
    let older = "SELECT count(*) FROM gen_durable WHERE updated_at < now() - interval '9 d' - interval '1 h'";
    assert_eq!(db.count(older).await, 5);
    assert_eq!(piece(&db, &of_m(), 15).await.gone, 15);
    assert_eq!((db.count(older).await, left(&db, "m", "done").await), (0, 30));
    assert_eq!(pass(&db, &of_m(), 10).await.0, 30);
}

async fn a_long_history_goes_in_pieces_and_its_instance_with_the_last(db: Db) {
    fill(&db, "m", "done", 3, 8).await;
    let lines = "SELECT count(*) FROM gen_durable_history";
    db.run(
        "INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, started_at, committed_at)
         SELECT (SELECT min(id) FROM gen_durable), i, 'a', 'retry', 0, now(), now() FROM generate_series(1, 25000) i",
    )
    .await;
    let first = piece(&db, &of_m(), 100).await;
    assert_eq!((first.due, first.gone, first.cleared), (3, 2, 10_000));
    assert_eq!((db.count(lines).await, left(&db, "m", "done").await), (15_000, 1));
    assert_eq!(pass(&db, &of_m(), 100).await.0, 1);
    assert_eq!((db.count(lines).await, left(&db, "m", "done").await), (0, 0));
}

async fn large_inboxes_go_one_by_one(db: Db) {
    fill(&db, "m", "failed", 4, 8).await;
    db.run(
        "INSERT INTO signals (target_id, name) SELECT g.id, 's' FROM generate_series(1, 6000) i, gen_durable g
         WHERE g.id <= (SELECT min(id) + 2 FROM gen_durable)",
    )
    .await;
    assert_eq!(piece(&db, &of_m(), 100).await.gone, 1);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 12_000);
    assert_eq!(pass(&db, &of_m(), 100).await.0, 3);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
}

async fn a_kept_key_is_free_once_its_instance_is_gone(db: Db) {
    db.run(
        "INSERT INTO gen_durable (fsm, step, status, updated_at, correlation_key, correlation_scope)
         VALUES ('m', 'a', 'done', now() - interval '8 d', 'm:1', '{runnable,executing,done}')",
    )
    .await;
    let start = async || {
        let spec = StartSpec { key: Some("m:1".into()), ..suite::start() };
        matches!(db.store.start(&[spec]).await.expect("answers")[0], Started::New(_))
    };
    assert!(!start().await);
    assert_eq!(piece(&db, &of_m(), 100).await.gone, 1);
    assert!(start().await);
}

/// O-23.
async fn a_signal_to_one_that_went_finds_nobody(db: Db) {
    fill(&db, "m", "failed", 1, 8).await;
    let id = InstanceId::new(db.count("SELECT id FROM gen_durable").await);
    assert_eq!(piece(&db, &of_m(), 100).await.gone, 1);
    let spec =
        SignalSpec { target: Target::Id(id), name: "s".into(), payload: Json::object(), dedup: Some("d".into()) };
    assert_eq!(db.store.signal(&[spec]).await.expect("answers")[0].delivered, Delivered::NoTarget);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
}

/// A table of the user's own refers to it.
async fn who_cannot_go_holds_up_nobody(db: Db) {
    fill(&db, "m", "done", 50, 8).await;
    db.run("CREATE TABLE mine (instance bigint NOT NULL REFERENCES gen_durable (id))").await;
    db.run("INSERT INTO mine SELECT id FROM gen_durable WHERE id % 25 = 7").await;
    let first = piece(&db, &of_m(), 100).await;
    assert_eq!((first.due, first.gone), (50, 48));
    assert_eq!(left(&db, "m", "done").await, 2);
    fill(&db, "m", "done", 1, 7).await;
    assert_eq!(pass(&db, &of_m(), 10).await.0, 1, "nor whoever ended later");
    db.run("DELETE FROM mine").await;
    assert_eq!(pass(&db, &of_m(), 100).await.0, 2);
}

/// More rows of one moment than a look has, kept longer by another machine, before and among those that go.
async fn a_crowd_that_others_keep_longer_is_passed_once(db: Db) {
    fill(&db, "kept", "done", 5_000, 9).await;
    db.run("UPDATE gen_durable SET fsm = 'm' WHERE id % 1000 = 500").await;
    fill(&db, "m", "done", 30, 8).await;
    let mut cursor = Cursor::new(100);
    let (mut gone, mut looks, mut seen) = (0, 0, 0);
    loop {
        let purge = Purge { age: 7 * DAY, ended: &of_m(), from: cursor.from, look: cursor.look, limit: 100 };
        let purged = db.store.purge(&purge).await.expect("looks");
        (gone, looks, seen) = (gone + purged.gone, looks + 1, seen + purged.seen);
        if !cursor.advance(100, &purged) {
            break;
        }
    }
    assert_eq!((gone, left(&db, "m", "done").await, left(&db, "kept", "done").await), (35, 0, 4_995));
    assert!(looks < 25 && seen < 30_000, "{looks} looks at {seen} rows");
    // Nobody has ended since: they are not looked at again.
    let purge = Purge { age: 7 * DAY, ended: &of_m(), from: cursor.from, look: cursor.look, limit: 100 };
    assert_eq!(db.store.purge(&purge).await.expect("looks").seen, 0);
}

async fn a_moment_beyond_the_calendar_stops_nothing(db: Db) {
    fill(&db, "kept", "done", 1, 9).await;
    let long_ago = suite::Sql {
        postgres: "UPDATE gen_durable SET updated_at = '-infinity'",
        sqlite: "UPDATE gen_durable SET updated_at = -9223372036854775808",
    };
    db.run(long_ago).await;
    db.run("INSERT INTO gen_durable (fsm, step, status, updated_at) VALUES ('m', 'a', 'done', 'infinity')").await;
    fill(&db, "m", "done", 3, 8).await;
    assert_eq!(pass(&db, &of_m(), 1).await.0, 3);
    db.run("UPDATE gen_durable SET fsm = 'm' WHERE fsm = 'kept'").await;
    assert_eq!(pass(&db, &of_m(), 1).await.0, 1);
    assert_eq!(left(&db, "m", "done").await, 1);
}
