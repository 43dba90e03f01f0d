//! A kit within a transaction that the test has begun: its own rows and a started instance, none of them ever committed.

mod place;

use std::time::Duration;

use gen_durable::{Tx, prelude::*, testing::TestKit};
use jiff::{Timestamp, ToSpan};
use kit_tests::{Album, Circle, Declined, Hands, Lie, Paid, Pay, Reserve, Round, Ship, Sort};
use place::{Place, within};
use serde::{Deserialize, Serialize};

/// Each promise on both stores, from one body.
macro_rules! on_both_stores {
    ($($promise:ident),* $(,)?) => {
        mod sqlite { $(#[tokio::test] async fn $promise() { super::$promise(super::Place::sqlite().await).await; })* }
        #[cfg(feature = "postgres")]
        mod postgres { $(#[tokio::test] async fn $promise() { super::$promise(super::Place::postgres().await).await; })* }
    };
}

on_both_stores![
    what_the_test_wrote_and_started_is_drained_and_nothing_stays,
    a_kit_that_is_dropped_leaves_nothing_either,
    time_is_moved_as_on_a_store_of_its_own,
    work_that_fails_takes_back_its_own_writes_and_no_others,
    children_keys_and_circles_run_as_on_a_store_of_its_own,
    a_drain_that_comes_to_no_end_leaves_the_transaction_usable,
];

const LEFT: &str = "SELECT (SELECT count(*) FROM gen_durable) + (SELECT count(*) FROM gen_durable_history)
    + (SELECT count(*) FROM signals) + (SELECT count(*) FROM entries)";

/// Books in the transaction of its outcome: as often as told it errs after the write, or writes what cannot be.
#[durable_fsm(output(u64), handler(Clerk))]
pub enum Account {
    #[step(start, key(account), next(Check), retry(attempts = 9, backoff = "1m"))]
    Book { account: i64, amount: i64, errs: u32, collides: u32 },
    #[step(await(Settled), timeout = "1h", done, fail)]
    Check { account: i64 },
}

#[derive(Serialize, Deserialize, Signal)]
pub struct Settled {
    pub total: u64,
}

pub struct Clerk;

async fn enter(tx: &mut Tx<'_>, account: i64, amount: i64) -> Result<(), StepError> {
    let insert = "INSERT INTO entries (account, amount) VALUES ($1, $2)";
    #[cfg(feature = "postgres")]
    if let Ok(connection) = tx.postgres() {
        sqlx::query(insert).bind(account).bind(amount).execute(connection).await?;
        return Ok(());
    }
    sqlx::query(insert).bind(account).bind(amount).execute(tx.sqlite()?).await?;
    Ok(())
}

impl AccountSteps for Clerk {
    async fn book(&self, step: Book, cx: &StepContext) -> StepResult<Book> {
        let Book { account, amount, errs, collides } = step;
        let attempt = cx.attempt();
        Ok(goto(Check { account }).in_transaction(move |mut tx| {
            Box::pin(async move {
                enter(&mut tx, account, amount).await?;
                if attempt < collides {
                    // On Postgres this error would end the whole transaction.
                    enter(&mut tx, account, amount).await?;
                }
                if attempt < errs { Err(StepError::new("not yet")) } else { Ok(()) }
            })
        }))
    }

    async fn check(&self, _: Check, signal: Result<Settled, TimedOut>, _: &StepContext) -> StepResult<Check> {
        Ok(match signal {
            Ok(Settled { total }) => done(total),
            Err(TimedOut) => fail("nobody settled"),
        })
    }
}

fn book(account: i64) -> Book {
    Book { account, amount: 10 * account, errs: 0, collides: 0 }
}

async fn what_the_test_wrote_and_started_is_drained_and_nothing_stays(place: Place) {
    let mut tx = place.begin().await;
    tx.run("INSERT INTO entries (account, amount) VALUES (1, 1)").await;
    let account = tx.start(&place.client, start(book(7))).await;
    let kit = tx.kit(&place.client, Clerk).await;
    assert_eq!(kit.drain().await, 1);
    kit.look(&account).await.waits_for::<Settled>();
    assert_eq!(within(&kit, "SELECT count(*) FROM entries").await, 2, "the test's, and the step's");
    let again = kit.start(start(book(7))).await;
    assert_eq!((again.is_new(), again.id()), (false, account.id()), "its key is there too");
    kit.signal(&account, Settled { total: 70 }).await;
    assert_eq!(kit.drain().await, 1);
    let look = kit.look(&account).await;
    assert_eq!(look.done(), 70);
    look.ran(["book", "check"]);
    #[cfg(feature = "postgres")]
    if place.client.store().dialect() == "postgres" {
        assert_eq!(place.count(LEFT).await, 0, "nobody else saw anything");
    }
    kit.rollback().await;
    assert_eq!(place.count(LEFT).await, 0);
    assert!(account.show().await.expect_err("it never was").is_not_found());
    assert!(place.client.start(start(book(7))).await.expect("starts").is_new(), "the database is as it was");
}

async fn a_kit_that_is_dropped_leaves_nothing_either(place: Place) {
    let kit = place.begin().await.kit(&place.client, Clerk).await;
    let account = kit.start(start(book(7))).await;
    kit.drain().await;
    assert_eq!(within(&kit, LEFT).await, 3, "itself, a line, an entry");
    drop((kit, account));
    // The connection rolls back before anything else is done on it; on SQLite nobody writes before.
    drop(place.begin().await);
    assert_eq!(place.count(LEFT).await, 0);
}

async fn time_is_moved_as_on_a_store_of_its_own(place: Place) {
    let mut tx = place.begin().await;
    let order = tx.start(&place.client, start(Reserve { order: 7, failures: 2 })).await;
    let late = tx.start(&place.client, start(Reserve { order: 8, failures: 0 })).await;
    let kit = tx.kit(&place.client, Hands::default()).await;
    let began = kit.now();
    assert!(began.duration_since(Timestamp::now()).abs() < jiff::SignedDuration::from_secs(60), "{began}");
    kit.drain().await;
    kit.advance(Duration::from_secs(14 * 60));
    kit.signal(&order, Paid { amount: 1 }).await;
    assert_eq!(kit.drain().await, 2, "paid, and shipped in vain");
    assert_eq!(kit.look(&late).await.times_out_at().map(|at| at > kit.now()), Some(true));
    let look = kit.look(&order).await;
    look.at_step::<Ship>();
    let backoff = look.due_at().duration_since(kit.now()).as_secs_f64();
    assert!(backoff > 0.0 && backoff <= 10.0, "{look}");
    assert_eq!(kit.drain().await, 0);
    kit.run_for(Duration::from_secs(60)).await;
    assert_eq!(kit.look(&order).await.done(), "shipped at attempt 2");
    assert_eq!(kit.look(&late).await.done(), "nobody paid");
    let began = kit.now();
    let nap = kit.start(start(Lie { seen: vec![] }).delay(Duration::from_secs(300))).await;
    assert_eq!(kit.run_for(Duration::from_secs(86_400)).await, 7);
    let seen = kit.look(&nap).await.done();
    assert_eq!(seen, [5.minutes(), 15.minutes(), 75.minutes(), 76.minutes()].map(|after| began + after));
    kit.rollback().await;
}

async fn work_that_fails_takes_back_its_own_writes_and_no_others(place: Place) {
    let mut tx = place.begin().await;
    tx.run("INSERT INTO entries (account, amount) VALUES (1, 1)").await;
    let kit = tx.kit(&place.client, Clerk).await;
    for (account, errs, collides) in [(7, 1, 0), (8, 0, 2)] {
        let before = within(&kit, "SELECT count(*) FROM entries").await;
        let handle = kit.start(start(Book { errs, collides, ..book(account) })).await;
        for attempt in 1..=errs.max(collides) {
            assert_eq!(kit.drain().await, 1);
            let look = kit.look(&handle).await;
            assert_eq!(look.attempt(), attempt, "{look}");
            assert_eq!(within(&kit, "SELECT count(*) FROM entries").await, before, "{account}");
            kit.advance(Duration::from_secs(4 * 60));
        }
        assert_eq!(kit.drain().await, 1);
        kit.look(&handle).await.at_step::<Check>();
        assert_eq!(within(&kit, "SELECT count(*) FROM entries").await, before + 1, "{account}");
    }
    kit.rollback().await;
    assert_eq!(place.count(LEFT).await, 0);
}

async fn children_keys_and_circles_run_as_on_a_store_of_its_own(place: Place) {
    let mut tx = place.begin().await;
    let album = tx.start(&place.client, start(Sort { photos: 5, dark: 2 })).await;
    let kit = tx.kit(&place.client, Hands::default()).await;
    let circle = kit.start(start(Round { left: Some(20) })).await;
    assert_eq!(kit.drain().await, 1 + 5 + 1 + 1 + 21);
    assert_eq!(kit.look::<Album>(&album).await.done(), (3, 2));
    kit.look::<Circle>(&circle).await.done();
    let declined = kit.start(start(Reserve { order: 1, failures: 0 })).await;
    kit.drain().await;
    kit.look(&declined).await.at_step::<Pay>();
    kit.signal(&declined, Declined {}).await;
    kit.drain().await;
    assert_eq!(kit.look(&declined).await.done(), "declined");
    kit.rollback().await;
    assert_eq!(place.count(LEFT).await, 0);
}

async fn a_drain_that_comes_to_no_end_leaves_the_transaction_usable(place: Place) {
    let kit = place.begin().await.kit(&place.client, Hands::default()).await;
    let endless = kit.start(start(Round { left: None })).await;
    let over = kit.try_drain().await.expect_err("it goes in circles");
    assert!(over.to_string().contains("the step cap"), "{over}");
    assert_eq!(within(&kit, "SELECT count(*) FROM gen_durable").await, 1);
    kit.client().by_id::<Circle>(endless.id().expect("known")).cancel("enough").await.expect("asks");
    kit.drain().await;
    assert_eq!(kit.look(&endless).await.failed(), "cancelled: enough");
    kit.rollback().await;
}

/// Each sees its own.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn two_tests_at_once_see_nothing_of_each_other() {
    let place = Place::postgres().await;
    let [one, two] = [place.begin().await, place.begin().await];
    let (one, two) = (one.kit(&place.client, Clerk).await, two.kit(&place.client, Clerk).await);
    let (first, second) = (one.start(start(book(1))).await, two.start(start(book(2))).await);
    assert_eq!((one.drain().await, two.drain().await), (1, 1));
    for (kit, handle) in [(&one, &first), (&two, &second)] {
        kit.signal(handle, Settled { total: 1 }).await;
        assert_eq!(kit.drain().await, 1);
        assert_eq!(kit.look(handle).await.done(), 1);
        assert_eq!(within(kit, "SELECT count(*) FROM gen_durable").await, 1);
    }
    one.rollback().await;
    two.rollback().await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[should_panic(expected = "cannot make a kit: a Postgres transaction needs a client on Postgres")]
async fn a_transaction_on_another_store_is_refused() {
    let (place, other) = (Place::postgres().await, Place::sqlite().await);
    place.begin().await.kit(&other.client, Clerk).await;
}

#[tokio::test]
#[should_panic(expected = "this kit is not within a transaction")]
async fn a_kit_of_its_own_has_no_transaction() {
    drop(TestKit::builder().await.handler(Clerk).build().connection().await);
}
