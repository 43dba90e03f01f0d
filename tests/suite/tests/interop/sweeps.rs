//! Its sweeps go through all queues: what they do to rows of ours.

use std::{sync::atomic::Ordering, time::Duration};

use gen_durable::{InstanceId, WaitError, start};
use suite::{Db, eventually, nothing_lost};

use crate::{
    Ours, SOON, column,
    machines::{Blue, BothSoon, Family, OneSoon, Palette, Parcel, Red, Split, Weigh},
    theirs::{LIVE, Row, Theirs},
};

suite::stores! {
    postgres {
        a_claim_that_it_reaps_is_lost_and_the_step_runs_again => "the Elixir engine works on Postgres only",
        a_wait_that_it_ends_has_timed_out_with_what_had_come => "the Elixir engine works on Postgres only",
        what_it_collects_is_gone_and_nobody_waits_for_it => "the Elixir engine works on Postgres only",
        it_claims_nothing_in_our_queue_and_we_nothing_in_its => "the Elixir engine works on Postgres only",
        a_claim_of_its_own_that_we_reap_counts_as_an_attempt_there => "the Elixir engine works on Postgres only",
        a_wait_of_its_own_whose_key_was_taken_holds_up_no_other => "the Elixir engine works on Postgres only",
    }
}

async fn a_claim_that_it_reaps_is_lost_and_the_step_runs_again(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let weigh = ours.client.start(start(Weigh { name: "box".into(), fails: false })).await.expect("starts");
    let id = weigh.id().expect("known");
    let runs = async |n| ours.desk.runs.load(Ordering::SeqCst) == n;
    eventually("it runs", SOON, async || runs(1).await).await;
    // As if we had been frozen for longer than our lease: only that engine looks.
    db.run(format!(
        "UPDATE gen_durable SET lease_expires_at = now() - interval '1 s', queue = 'aside' WHERE id = {id}"
    ))
    .await;
    assert_eq!(theirs.reaps().await, 1);
    assert_eq!(column(&db, id, "(status, attempt, crashes, locked_by)").await, "(runnable,1,0,)");
    ours.desk.permits.add_permits(1);
    let dropped = async || ours.worker.running().is_empty();
    eventually("its outcome came too late", SOON, dropped).await;
    assert_eq!(column(&db, id, "(status, transitions)").await, "(runnable,0)", "nothing was changed");
    db.run(format!("UPDATE gen_durable SET queue = 'ours' WHERE id = {id}")).await;
    eventually("it runs again", SOON, async || runs(2).await).await;
    ours.desk.permits.add_permits(1);
    assert_eq!(ours.result::<Parcel>(id).await, "box");
    assert_eq!(ours.client.history(id).await.expect("lines").len(), 1, "it was done once");
    nothing_lost(&db, &[id]).await;
    ours.stop().await;
}

/// It forgets the deadline with it.
async fn a_wait_that_it_ends_has_timed_out_with_what_had_come(db: Db) {
    let theirs = Theirs(&db);
    let client = gen_durable::Client::on(db.store.clone());
    let within = Duration::from_millis(1);
    let one = client.start(start(OneSoon { within })).await.expect("starts");
    let both = client.start(start(BothSoon { within })).await.expect("starts");
    let rich = client.start(start(BothSoon { within })).await.expect("starts");
    for to in [&both, &rich] {
        to.signal(Red { n: 1 }).await.expect("a target");
    }
    eventually("its sweep", SOON, async || {
        theirs.ends_waits().await == 0
            && db.count("SELECT count(*) FROM gen_durable WHERE status = 'runnable'").await == 3
    })
    .await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE await_deadline IS NULL").await, 3);
    rich.signal(Blue { n: 2 }).await.expect("a target");
    let ours = Ours::on(&db).await;
    let id = |handle: &gen_durable::Handle<Palette>| handle.id().expect("known");
    assert_eq!(ours.result::<Palette>(id(&one)).await, "nothing");
    assert_eq!(ours.result::<Palette>(id(&both)).await, "(Some(Red { n: 1 }), None)");
    assert_eq!(ours.result::<Palette>(id(&rich)).await, "1 2", "it came before anyone looked");
    ours.stop().await;
}

async fn what_it_collects_is_gone_and_nobody_waits_for_it(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let family = ours.client.start(start(Split { numbers: vec![2, 4, 6], far: false })).await.expect("starts");
    let id = family.id().expect("known");
    assert_eq!(ours.result::<Family>(id).await, "3 of 3: 4 8 12");
    // A child whose parent went on without it, and goes before it.
    let weigh = Row::ours("parcel", "weigh", r#"{"name": "late", "fails": false}"#);
    let late = theirs.inserts(Row { parent: Some(id), ..weigh }).await;
    eventually("it runs", SOON, async || column(&db, late, "status").await == "executing").await;
    assert_eq!(theirs.collects(3_600.0).await, 0);
    assert_eq!(theirs.collects(0.0).await, 4);
    assert_eq!(column(&db, late, "parent_id").await, "NULL");
    ours.desk.permits.add_permits(1);
    assert_eq!(ours.result::<Parcel>(late).await, "late");
    let gone = family.wait().timeout(SOON).await.expect_err("it is gone");
    assert!(matches!(gone, WaitError::NotFound(_)), "{gone:?}");
    ours.stop().await;
}

async fn it_claims_nothing_in_our_queue_and_we_nothing_in_its(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let weigh = ours.client.start(start(Weigh { name: "box".into(), fails: false })).await.expect("starts");
    assert_eq!(theirs.claims().await, None);
    // Even a machine that we know.
    let known = theirs.inserts(Row { queue: "theirs", ..Row::ours("parcel", "pack", r#"{"name": "x"}"#) }).await;
    ours.desk.permits.add_permits(1);
    weigh.wait().timeout(SOON).await.expect("ends");
    assert_eq!(column(&db, known, "status").await, "runnable");
    assert_eq!(theirs.claims().await, Some(known));
    ours.stop().await;
}

/// It counts no crashes: a step that kills its process would be tried for ever.
async fn a_claim_of_its_own_that_we_reap_counts_as_an_attempt_there(db: Db) {
    let theirs = Theirs(&db);
    let id = theirs.inserts(Row::theirs()).await;
    theirs.claims().await.expect("its own row");
    assert_eq!(db.store.reap(10).await.expect("reaps").rows, 0, "its lease stands");
    db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s', concurrency_shard = 2").await;
    assert_eq!(db.store.reap(10).await.expect("reaps").rows, 1);
    assert_eq!(column(&db, id, "(status, attempt)").await, "(runnable,1)");
    // Its outcome of the claim that it lost is refused by its own guard.
    assert_eq!(db.count(format!("SELECT count(*) FROM gen_durable WHERE id = {id} AND status = 'executing'")).await, 0);
}

/// Its scope let the key go while it waited: it stays parked until the key is free again.
async fn a_wait_of_its_own_whose_key_was_taken_holds_up_no_other(db: Db) {
    let theirs = Theirs(&db);
    let parked = async |key| {
        let id: InstanceId = theirs.inserts(Row { key: Some((key, "runnable")), ..Row::theirs() }).await;
        theirs.claims().await.expect("its own row");
        theirs.parks(id, "wait", "{}", "red", Some(0.0)).await;
        id
    };
    let (taken, free) = (parked("k:1").await, parked("k:2").await);
    let newer = theirs.inserts(Row { key: Some(("k:1", LIVE)), ..Row::theirs() }).await;
    assert_eq!(db.store.end_waits(10).await.expect("the others do not notice").rows, 1);
    assert_eq!(column(&db, free, "status").await, "runnable");
    assert_eq!(column(&db, taken, "status").await, "awaiting_signal");
    db.run(format!("UPDATE gen_durable SET status = 'done' WHERE id = {newer}")).await;
    assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 1);
    assert_eq!(column(&db, taken, "status").await, "runnable");
}
