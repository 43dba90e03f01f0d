//! Parents and children that it made.

use std::time::Duration;

use gen_durable::{InstanceId, start};
use gen_durable_runtime::{
    model::{Change, Claim, Transition},
    store::{ClaimOrder, Known},
};
use suite::{Db, eventually, order};

use crate::{
    Ours, SOON, column,
    machines::{Double, Family, Split},
    theirs::{LIVE, Row, Theirs},
};

suite::stores! {
    postgres {
        children_that_it_started_tell_its_parent => "the Elixir engine works on Postgres only",
        a_parent_that_it_parked_joins_the_children_that_it_started => "the Elixir engine works on Postgres only",
        a_child_that_it_runs_wakes_our_parent => "the Elixir engine works on Postgres only",
        a_parent_of_its_own_is_not_woken_by_a_deadline_that_it_left_behind => "the Elixir engine works on Postgres only",
        a_child_whose_key_was_taken_fails_and_tells_its_parent => "the Elixir engine works on Postgres only",
        a_parent_whose_key_was_taken_fails_and_tells_its_own => "the Elixir engine works on Postgres only",
    }
}

const ODD: Row<'_> = Row { state: r#"{"number": 3}"#, ..EVEN };
const EVEN: Row<'_> = Row {
    fsm: "double",
    step: "run",
    state: r#"{"number": 4}"#,
    queue: "ours",
    key: None,
    concurrency_key: None,
    parent: None,
};

/// A parent in its own queue that waits for these.
async fn parent(theirs: Theirs<'_>, row: Row<'_>, children: &[Row<'_>]) -> (InstanceId, Vec<InstanceId>) {
    let parent = theirs.inserts(row).await;
    assert_eq!(theirs.claims().await, Some(parent));
    let children = theirs.fans_out(parent, "joined", r#"{"n": 2}"#, children).await;
    (parent, children)
}

async fn children_that_it_started_tell_its_parent(db: Db) {
    let theirs = Theirs(&db);
    let (parent, children) = parent(theirs, Row::theirs(), &[EVEN, ODD, EVEN]).await;
    let ours = Ours::on(&db).await;
    eventually("its parent is due", SOON, async || column(&db, parent, "status").await == "runnable").await;
    assert_eq!(column(&db, parent, "(step, children_pending, attempt)").await, "(joined,0,0)");
    let each = db.text("SELECT string_agg(status || ' ' || coalesce(result::text, last_error), ', ' ORDER BY id) FROM gen_durable WHERE parent_id IS NOT NULL");
    assert_eq!(each.await, "done 8, failed odd, done 8");
    assert_eq!(theirs.claims().await, Some(parent), "it goes on with it");
    theirs.is_done(parent, "{}").await;
    assert_eq!(children.len(), 3);
    ours.stop().await;
}

/// In our queue, at a join step of ours: of all its rounds, for it tells none apart.
async fn a_parent_that_it_parked_joins_the_children_that_it_started(db: Db) {
    let theirs = Theirs(&db);
    let row = Row { queue: "theirs", ..Row::ours("family", "split", r#"{"numbers": []}"#) };
    let parent = theirs.inserts(row).await;
    theirs.claims().await.expect("its own row");
    theirs.fans_out(parent, "gather", "{}", &[EVEN, ODD, EVEN]).await;
    db.run(format!("UPDATE gen_durable SET queue = 'ours' WHERE id = {parent}")).await;
    let ours = Ours::on(&db).await;
    assert_eq!(ours.result::<Family>(parent).await, "3 of 3: 8 odd 8");
    ours.stop().await;
}

/// A child of our fan-out whose row it works: it counts down, and says nothing else. The join sees that not all is told.
async fn a_child_that_it_runs_wakes_our_parent(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let family = ours.client.start(start(Split { numbers: vec![2, 4], far: true })).await.expect("starts");
    let children = "SELECT count(*) FROM gen_durable WHERE queue = 'theirs'";
    eventually("its children", SOON, async || db.count(children).await == 2).await;
    for result in ["4", "8"] {
        let child = theirs.claims().await.expect("a child");
        theirs.is_done(child, result).await;
    }
    assert_eq!(ours.result::<Family>(family.id().expect("known")).await, "0 of 2: ");
    ours.stop().await;
}

/// Its fan-out clears no deadline: that of the wait before stands there, and is past.
async fn a_parent_of_its_own_is_not_woken_by_a_deadline_that_it_left_behind(db: Db) {
    let theirs = Theirs(&db);
    let parent = theirs.inserts(Row::theirs()).await;
    theirs.claims().await.expect("its own row");
    theirs.parks(parent, "wait", "{}", "red", Some(0.0)).await;
    theirs.signals(parent, "red", "{}", None).await;
    theirs.claims().await.expect("woken");
    theirs.fans_out(parent, "joined", "{}", &[Row { queue: "theirs", ..EVEN }]).await;
    assert_eq!(db.store.end_waits(100).await.expect("ends").rows, 0);
    assert_eq!(column(&db, parent, "(status, children_pending)").await, "(awaiting_children,1)");
}

/// Only a scope of its own lets a row give its key up while it lives.
const BRIEF: &str = "runnable";
const TAKEN: &str = "failed: its business key has a newer occupant";

/// A family in which each of the children has a key that it gives up while it executes, with a claim for each.
async fn executing(db: &Db, keys: &[&str]) -> (InstanceId, Vec<Claim>) {
    let children: Vec<Row<'_>> = keys.iter().map(|key| Row { key: Some((key, BRIEF)), ..EVEN }).collect();
    let mut claims = vec![];
    let theirs = Theirs(db);
    let parent = theirs.inserts(Row::theirs()).await;
    assert_eq!(theirs.claims().await, Some(parent));
    db.run(format!("UPDATE gen_durable SET children_pending = {}, status = 'awaiting_children', locked_by = NULL WHERE id = {parent}", keys.len())).await;
    for child in children {
        theirs.inserts(Row { parent: Some(parent), ..child }).await;
        claims.extend(claim(db).await);
    }
    (parent, claims)
}

async fn claim(db: &Db) -> Vec<Claim> {
    let (machines, steps) = (vec!["double".into()], vec!["run".into()]);
    let known = Known { machines, versions: vec![1], steps, ..Known::default() };
    let order = ClaimOrder { queue: "ours", ..order(&known, 10, "gone.1.2.3-1#1") };
    db.store.claim(&order).await.expect("claims").claims
}

async fn stands(db: &Db, id: InstanceId) -> String {
    column(db, id, "status || coalesce(': ' || last_error, '')").await
}

async fn a_child_whose_key_was_taken_fails_and_tells_its_parent(db: Db) {
    let theirs = Theirs(&db);
    let twin = async |key| theirs.inserts(Row { key: Some((key, LIVE)), ..Row::theirs() }).await;
    // By a reap, by what a boot takes back, by an outcome that is no end.
    let expire = "UPDATE gen_durable SET lease_expires_at = now() WHERE status = 'executing'";
    for way in ["reap", "reclaim", "outcome"] {
        let (parent, claims) = executing(&db, &["k:1"]).await;
        let child = claims[0].id;
        twin("k:1").await;
        // Nobody waits for the parent's row.
        let held = hold(&db, parent).await;
        let end = async || match way {
            "reap" => drop(db.store.reap(10).await.expect("reaps")),
            "reclaim" => drop(db.store.reclaim("gone.1.2.3-1", 10).await.expect("reclaims")),
            _ => {
                let change = Change::Retry { after: Duration::ZERO, error: Some("x".into()) };
                drop(db.store.commit(&[Transition::of(&claims[0], change, vec![])]).await.expect("commits"));
            }
        };
        if way == "reap" {
            db.run(expire).await;
        }
        end().await;
        assert_eq!(stands(&db, child).await, "executing", "{way}");
        held.rollback().await;
        end().await;
        assert_eq!(stands(&db, child).await, TAKEN, "{way}");
        assert_eq!(column(&db, parent, "(status, children_pending)").await, "(runnable,0)", "{way}");
        db.run("DELETE FROM gen_durable").await;
    }
    // Two that come back to one key: one has it.
    let (parent, claims) = executing(&db, &["k:2", "k:2", "k:3"]).await;
    db.run(expire).await;
    assert_eq!(db.store.reap(10).await.expect("the others do not notice").rows, 3);
    let each = [stands(&db, claims[0].id).await, stands(&db, claims[1].id).await, stands(&db, claims[2].id).await];
    assert_eq!(each, ["runnable", TAKEN, "runnable"]);
    assert_eq!(column(&db, parent, "(status, children_pending)").await, "(awaiting_children,2)");
}

async fn a_parent_whose_key_was_taken_fails_and_tells_its_own(db: Db) {
    let theirs = Theirs(&db);
    let brief = Row { key: Some(("k:1", BRIEF)), ..Row::theirs() };
    let (top, middle) = parent(theirs, Row::theirs(), &[brief]).await;
    assert_eq!(theirs.claims().await, Some(middle[0]));
    let children = theirs.fans_out(middle[0], "joined", "{}", &[EVEN]).await;
    let newer = theirs.inserts(Row { key: Some(("k:1", LIVE)), ..Row::theirs() }).await;
    // Nobody waits for the row above.
    let held = hold(&db, top).await;
    let ours = Ours::on(&db).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(column(&db, middle[0], "status").await, "awaiting_children");
    held.rollback().await;
    assert_eq!(ours.result::<Double>(children[0]).await, 8);
    assert_eq!(stands(&db, middle[0]).await, TAKEN);
    assert_eq!(column(&db, top, "(status, children_pending)").await, "(runnable,0)");
    assert_eq!(column(&db, newer, "status").await, "runnable");
    ours.stop().await;
}

async fn hold(db: &Db, id: InstanceId) -> suite::Tx {
    let mut tx = db.begin().await;
    tx.run(format!("SELECT 1 FROM gen_durable WHERE id = {id} FOR NO KEY UPDATE")).await;
    tx
}
