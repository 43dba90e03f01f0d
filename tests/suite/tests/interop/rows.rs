//! Rows that it wrote, in our queue.

use std::time::Duration;

use gen_durable::{Filter, Status, Target, start};
use suite::{Db, eventually, nothing_lost};

use crate::{
    Ours, SOON, column,
    machines::{Parcel, Red, Stamp},
    theirs::{LIVE, Row, Theirs},
};

suite::stores! {
    postgres {
        a_row_that_it_started_runs_to_its_end => "the Elixir engine works on Postgres only",
        a_row_that_it_parked_is_woken_by_our_signal_and_by_its_deadline => "the Elixir engine works on Postgres only",
        a_row_that_it_tried_and_gave_back_goes_on_where_it_stood => "the Elixir engine works on Postgres only",
        a_row_that_it_ended_is_shown_and_stays_as_it_is => "the Elixir engine works on Postgres only",
        its_business_keys_are_occupied_in_its_own_scopes => "the Elixir engine works on Postgres only",
        a_key_that_one_engine_executes_keeps_the_other_out => "the Elixir engine works on Postgres only",
    }
}

const NAMED: &str = r#"{"name": "box"}"#;

async fn a_row_that_it_started_runs_to_its_end(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let id = theirs.inserts(Row::ours("parcel", "pack", NAMED)).await;
    theirs.signals(id, "blue", r#"{"n": 4}"#, None).await;
    assert_eq!(ours.result::<Parcel>(id).await, "box with blue 4");
    let steps: Vec<String> = ours.client.history(id).await.expect("lines").into_iter().map(|line| line.from).collect();
    assert_eq!(steps, ["pack", "tape", "post"]);
    // What it may read of it.
    assert_eq!(
        column(&db, id, "(status, result, awaits, lease_expires_at)").await,
        r#"(done,"""box with blue 4""",,)"#
    );
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0, "the inbox went with it");
    // Later means later; a machine or a version that nobody here knows stands and hides nothing.
    let later = Row { queue: "aside", ..Row::ours("parcel", "post", r#"{"name": "b", "with": "c"}"#) };
    let later = theirs.inserts(later).await;
    let due = "UPDATE gen_durable SET eligible_at = now() + interval '300 ms', queue = 'ours' WHERE id = ";
    db.run(format!("{due}{later}")).await;
    let due = column(&db, later, "eligible_at").await;
    let unknown = theirs.inserts(Row { queue: "ours", ..Row::theirs() }).await;
    db.run(format!("UPDATE gen_durable SET priority = -1 WHERE id = {unknown}")).await;
    assert_eq!(ours.result::<Parcel>(later).await, "b with c");
    let early =
        format!("SELECT count(*) FROM gen_durable_history WHERE instance_id = {later} AND started_at < '{due}'");
    assert_eq!(db.count(early).await, 0);
    assert_eq!(column(&db, unknown, "(status, attempt, locked_by)").await, "(runnable,0,)");
    ours.stop().await;
}

async fn a_row_that_it_parked_is_woken_by_our_signal_and_by_its_deadline(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let parked = async |seconds| {
        let id = theirs.inserts(Row { queue: "theirs", ..Row::ours("parcel", "pack", NAMED) }).await;
        theirs.claims().await.expect("its own row");
        theirs.parks(id, "tape", NAMED, "red,blue", seconds).await;
        db.run(format!("UPDATE gen_durable SET queue = 'ours' WHERE id = {id}")).await;
        id
    };
    let (heard, late, never) = (parked(None).await, parked(Some(0.3)).await, parked(None).await);
    ours.client.by_id::<Parcel>(heard).signal(Red { n: 7 }).await.expect("a target");
    assert_eq!(ours.result::<Parcel>(heard).await, "box with red 7");
    assert_eq!(ours.result::<Parcel>(late).await, "box with nothing");
    nothing_lost(&db, &[heard, late, never]).await;
    assert_eq!(column(&db, never, "status").await, "awaiting_signal", "it was given no deadline");
    ours.stop().await;
}

/// Its retry keeps the names and the inbox; its `next` leaves the deadline of the wait behind.
async fn a_row_that_it_tried_and_gave_back_goes_on_where_it_stood(db: Db) {
    let theirs = Theirs(&db);
    let wait = async |seconds| {
        let id = theirs.inserts(Row { queue: "theirs", ..Row::ours("parcel", "pack", NAMED) }).await;
        theirs.claims().await.expect("its own row");
        theirs.parks(id, "tape", NAMED, "red,blue", seconds).await;
        theirs.signals(id, "red", r#"{"n": 1}"#, Some("once")).await;
        assert_eq!(theirs.claims().await, Some(id), "it was woken");
        id
    };
    let over = "UPDATE gen_durable SET queue = 'ours'";
    let tried = wait(None).await;
    theirs.retries(tried).await;
    db.run(over).await;
    let went_on = wait(Some(0.0)).await;
    theirs.goes_on(went_on, "pack", NAMED).await;
    db.run(over).await;
    let ours = Ours::on(&db).await;
    assert_eq!(ours.result::<Parcel>(tried).await, "box with red 1");
    assert_eq!(ours.client.history(tried).await.expect("lines")[0].attempt, 1, "its attempt counts");
    // It consumes at the next outcome; here the same signal is there for the next wait.
    assert_eq!(ours.result::<Parcel>(went_on).await, "box with red 1");
    ours.stop().await;
}

async fn a_row_that_it_ended_is_shown_and_stays_as_it_is(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let id = theirs.inserts(Row { key: Some(("ElixirShop.Order:7", LIVE)), ..Row::theirs() }).await;
    let live = ours.client.show(&Target::Key("ElixirShop.Order:7".into())).await.expect("it is there");
    assert_eq!((live.id, live.status, live.machine.as_str()), (id, Status::Runnable, "ElixirShop.Order"));
    theirs.claims().await.expect("its own row");
    theirs.is_done(id, r#"{"total": 90}"#).await;
    let before = db.row(id).await;
    let shown = ours.client.show(&Target::Id(id)).await.expect("it is there");
    assert_eq!((shown.status, shown.result.expect("a result").get()), (Status::Done, r#"{"total": 90}"#));
    let listed = ours.client.list(Filter::default().machine("ElixirShop.Order")).await.expect("a page");
    assert_eq!(listed.len(), 1);
    assert!(ours.client.by_id::<Parcel>(id).signal(Red { n: 1 }).await.expect_err("it has ended").is_no_target());
    assert_eq!(db.row(id).await, before);
    ours.stop().await;
}

async fn its_business_keys_are_occupied_in_its_own_scopes(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let at_work = r#"{"name": "x", "fails": false}"#;
    let row = |key, scope| Row { key: Some((key, scope)), ..Row::ours("parcel", "weigh", at_work) };
    let live = theirs.inserts(row("k:live", LIVE)).await;
    let queued = theirs.inserts(row("k:queued", "runnable")).await;
    let kept = theirs.inserts(row("k:kept", "runnable,executing,awaiting_signal,awaiting_children,done,failed")).await;
    let running = async || ours.desk.runs.load(std::sync::atomic::Ordering::SeqCst) == 3;
    eventually("all run", SOON, running).await;
    let at = async |key: &str| ours.client.show(&Target::Key(key.into())).await.ok().map(|found| found.id);
    assert_eq!([at("k:live").await, at("k:queued").await, at("k:kept").await], [Some(live), None, Some(kept)]);
    ours.desk.permits.add_permits(3);
    for id in [live, queued, kept] {
        assert_eq!(ours.result::<Parcel>(id).await, "x");
    }
    assert_eq!([at("k:live").await, at("k:queued").await, at("k:kept").await], [None, None, Some(kept)]);
    ours.stop().await;
}

async fn a_key_that_one_engine_executes_keeps_the_other_out(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let held = theirs.inserts(Row { concurrency_key: Some("bench:a"), ..Row::theirs() }).await;
    theirs.claims().await.expect("its own row");
    let other = ours.client.start(start(Stamp { name: "b".into() })).await.expect("starts");
    let waits = ours.client.start(start(Stamp { name: "a".into() })).await.expect("starts");
    other.wait().timeout(SOON).await.expect("another key");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let id = waits.id().expect("known");
    assert_eq!(column(&db, id, "concurrency_key || ' ' || status").await, "bench:a runnable");
    theirs.is_done(held, "{}").await;
    assert_eq!(ours.result::<Parcel>(id).await, "a");
    // Its gates hold a slot of a shard, which is no key of ours; its reaper leaves the shard on the row.
    let gated = theirs.inserts(Row { concurrency_key: Some("bench:c"), ..Row::theirs() }).await;
    theirs.claims().await.expect("its own row");
    db.run(format!("UPDATE gen_durable SET concurrency_shard = 3 WHERE id = {gated}")).await;
    let c = ours.client.start(start(Stamp { name: "c".into() })).await.expect("starts");
    c.wait().timeout(SOON).await.expect("ends");
    let sharded = theirs.inserts(Row {
        concurrency_key: Some("bench:d"),
        ..Row::ours("parcel", "weigh", r#"{"name": "d", "fails": false}"#)
    });
    let sharded = sharded.await;
    db.run(format!("UPDATE gen_durable SET concurrency_shard = 3 WHERE id = {sharded}")).await;
    eventually("it runs", SOON, async || column(&db, sharded, "status").await == "executing").await;
    assert_eq!(column(&db, sharded, "concurrency_shard").await, "NULL", "the key is ours alone");
    ours.desk.permits.add_permits(1);
    assert_eq!(ours.result::<Parcel>(sharded).await, "d");
    ours.stop().await;
}
