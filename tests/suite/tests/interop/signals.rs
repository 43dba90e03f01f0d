//! Signals, both ways.

use gen_durable::start;
use suite::{Db, eventually, nothing_lost};

use crate::{
    Ours, SOON, column,
    machines::{Blue, Both, Pack, Palette, Parcel, Red, Three},
    theirs::{Row, Theirs},
};

suite::stores! {
    postgres {
        what_it_delivers_is_heard_once_and_a_repeated_one_ends_no_wait => "the Elixir engine works on Postgres only",
        a_wait_for_several_that_it_ends_at_the_first_name_goes_on_waiting => "the Elixir engine works on Postgres only",
        it_hears_what_we_deliver_as_it_stores_it_itself => "the Elixir engine works on Postgres only",
    }
}

async fn what_it_delivers_is_heard_once_and_a_repeated_one_ends_no_wait(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let parcel = ours.client.start(start(Pack { name: "box".into() })).await.expect("starts");
    let id = parcel.id().expect("known");
    // Before the wait, or in it: as it comes.
    theirs.signals(id, "red", r#"{"n": 1}"#, Some("k")).await;
    assert_eq!(ours.result::<Parcel>(id).await, "box with red 1");
    // A consumed one protects by its key; that engine wakes the row all the same.
    let three = ours.client.start(start(Three {})).await.expect("starts");
    let id = three.id().expect("known");
    theirs.signals(id, "red", r#"{"n": 1}"#, Some("k")).await;
    for _ in 0..3 {
        theirs.signals(id, "red", r#"{"n": 9}"#, Some("k")).await;
        eventually("it waits on", SOON, async || column(&db, id, "status").await == "awaiting_signal").await;
    }
    theirs.signals(id, "green", "{}", None).await;
    theirs.signals(id, "red", r#"{"n": 2}"#, None).await;
    three.signal(Red { n: 3 }).await.expect("a target");
    assert_eq!(ours.result::<Palette>(id).await, "1 2 3");
    ours.stop().await;
}

async fn a_wait_for_several_that_it_ends_at_the_first_name_goes_on_waiting(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let both = ours.client.start(start(Both {})).await.expect("starts");
    let id = both.id().expect("known");
    theirs.signals(id, "red", r#"{"n": 1}"#, None).await;
    let parked = "(status, attempt, transitions)";
    eventually("it waits on", SOON, async || column(&db, id, parked).await == "(awaiting_signal,0,0)").await;
    theirs.signals(id, "red", r#"{"n": 2}"#, None).await;
    eventually("it waits on", SOON, async || column(&db, id, parked).await == "(awaiting_signal,0,0)").await;
    theirs.signals(id, "blue", r#"{"n": 3}"#, None).await;
    assert_eq!(ours.result::<Palette>(id).await, "1 3");
    nothing_lost(&db, &[id]).await;
    ours.stop().await;
}

async fn it_hears_what_we_deliver_as_it_stores_it_itself(db: Db) {
    let (theirs, ours) = (Theirs(&db), Ours::on(&db).await);
    let key = "ElixirShop.Order:7";
    let id = theirs.inserts(Row { key: Some((key, crate::theirs::LIVE)), ..Row::theirs() }).await;
    theirs.claims().await.expect("its own row");
    theirs.parks(id, "wait", "{}", "blue,red", Some(3_600.0)).await;
    let to = ours.client.by_id::<Parcel>(id);
    for duplicate in [false, true] {
        let receipt = to.signal(Red { n: 5 }).dedup("once").await.expect("a target");
        assert_eq!((receipt.id, receipt.duplicate), (id, duplicate));
    }
    let blue = gen_durable_runtime::model::SignalSpec {
        target: gen_durable::Target::Key(key.into()),
        name: "blue".into(),
        payload: gen_durable::Signal::payload(&Blue { n: 6 }).expect("JSON"),
        dedup: None,
    };
    ours.client.signal_specs(&[blue]).await.expect("a target");
    let inbox = "SELECT string_agg(name || payload::text || jsonb_typeof(payload) || coalesce(dedup_key, '-'), ' ' ORDER BY id) FROM signals";
    assert_eq!(db.text(inbox).await, r#"red{"n": 5}objectonce blue{"n": 6}object-"#);
    assert_eq!(column(&db, id, "(status, step, awaits, attempt)").await, r#"(runnable,wait,"{blue,red}",0)"#);
    assert_eq!(theirs.claims().await, Some(id), "it was woken");
    theirs.is_done(id, "{}").await;
    ours.stop().await;
}
