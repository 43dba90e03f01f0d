//! The user's own rows, written with the transition or not at all.

use std::{sync::atomic::Ordering, time::Duration};

use gen_durable::{prelude::*, start};
use suite::{Db, nothing_lost, open_accounts, size};

use crate::{Work, machines::Hands};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        every_transfer_is_booked_once_and_the_sum_stays,
        work_that_fails_writes_nothing_and_the_step_is_tried_again,
        work_of_a_lost_claim_writes_nothing,
    }
}

const LONG: Duration = Duration::from_secs(120);

#[durable_fsm(output(u32), handler(Hands))]
pub enum Transfer {
    #[step(start, next(Booked), retry(attempts = 50, backoff = "1ms"))]
    Book { number: i64, from: i64, to: i64, amount: i64, fails: u32, panics: bool },
    #[step(done)]
    Booked,
}

impl TransferSteps for Hands {
    async fn book(&self, step: Book, cx: &StepContext) -> StepResult<Book> {
        let (fails, attempt) = (step.fails, cx.attempt());
        self.failed.fetch_add(1, Ordering::Relaxed);
        let step = std::sync::Arc::new(step);
        Ok(goto(Booked).in_transaction(move |mut tx| {
            let step = std::sync::Arc::clone(&step);
            Box::pin(async move {
                let Book { number, from, to, amount, .. } = *step;
                suite::book(&mut tx, suite::Booking { number, from, to, amount }).await?;
                assert!(!step.panics || attempt > 0, "as told");
                // After its writes: they must go as well.
                if attempt < fails { Err(StepError::new("not yet")) } else { Ok(()) }
            })
        }))
    }

    async fn booked(&self, _: Booked, _: &StepContext) -> StepResult<Booked> {
        Ok(done(1))
    }
}

fn transfer(number: i64) -> Book {
    let (from, to) = (number % 5, (number * 3 + 1) % 5);
    Book { number, from, to, amount: number % 7, fails: 0, panics: false }
}

async fn every_transfer_is_booked_once_and_the_sum_stays(db: Db) {
    open_accounts(&db, 5).await;
    let work = Work::on(&db).await;
    let transfers = i64::try_from(size(5_000)).expect("small");
    let started = work.client.start_many((0..transfers).map(|n| start(transfer(n)))).await.expect("starts");
    let ids: Vec<_> = started.iter().map(|s| s.id()).collect();
    let last = work.client.by_id::<Transfer>(ids[ids.len() - 1]);
    last.wait().timeout(LONG).await.expect("ends");
    // Two transfers in opposite directions may meet; the one that gives way is tried again.
    suite::Oracle::of(&db).within(LONG).expect_in_log("deadlock detected").check(&ids).await;
    assert_eq!(db.count("SELECT count(*) FROM bookings").await, transfers);
    assert_eq!(db.count("SELECT CAST(sum(balance) AS bigint) FROM accounts").await, 5_000);
    work.stop().await;
}

async fn work_that_fails_writes_nothing_and_the_step_is_tried_again(db: Db) {
    open_accounts(&db, 5).await;
    let work = Work::on(&db).await;
    let fails = work.client.start(start(Book { fails: 2, ..transfer(6) })).await.expect("starts");
    let panics = work.client.start(start(Book { panics: true, ..transfer(8) })).await.expect("starts");
    fails.wait().timeout(LONG).await.expect("ends");
    panics.wait().timeout(LONG).await.expect("ends");
    assert_eq!(db.count("SELECT count(*) FROM bookings").await, 2);
    assert_eq!(db.count("SELECT CAST(sum(balance) AS bigint) FROM accounts").await, 5_000);
    let errors = async |t: &gen_durable::Handle<Transfer>| -> Vec<Option<String>> {
        t.history().await.expect("its history").into_iter().map(|h| h.error).collect()
    };
    let not_yet = || Some("not yet".to_owned());
    assert_eq!(errors(&fails).await, [not_yet(), not_yet(), None, None]);
    assert_eq!(errors(&panics).await, [Some("in_transaction panicked: as told".into()), None, None]);
    nothing_lost(&db, &[fails.id().expect("known"), panics.id().expect("known")]).await;
    work.stop().await;
}

/// The claim is taken away while the handler has returned and its outcome waits for the row.
async fn work_of_a_lost_claim_writes_nothing(db: Db) {
    open_accounts(&db, 5).await;
    let client = gen_durable::Client::on(db.store.clone());
    let lost = client.start(start(transfer(3))).await.expect("starts");
    let known = gen_durable_runtime::store::Known {
        machines: vec!["transfer".into()],
        versions: vec![1],
        steps: vec!["book".into()],
        ..Default::default()
    };
    let claim = db.store.claim(&suite::order(&known, 1, "gone#1")).await.expect("claims").claims.remove(0);
    assert_eq!(db.store.reclaim("gone", 10).await.expect("reclaims").rows, 1);
    let hands = Hands::default();
    let outcome = TransferSteps::book(&hands, transfer(3), &StepContext::test()).await.expect("an outcome");
    let ran = gen_durable_runtime::machine::support::ran::<Book>(outcome, &()).expect("it can be stored");
    let rules = gen_durable_runtime::model::plan::Rules {
        version: 1,
        queue: "default",
        priority: 0,
        may_continue: false,
        awaits_signals: false,
    };
    let plan = gen_durable_runtime::model::plan::outcome_with(&claim, ran.verdict, ran.effects, rules);
    let answers = db.store.commit(&[plan.expect("a plan")]).await.expect("commits");
    assert_eq!(answers, [gen_durable_runtime::model::Committed::ClaimLost]);
    assert_eq!(db.count("SELECT count(*) FROM bookings").await, 0);
    let work = Work::on(&db).await;
    lost.wait().timeout(LONG).await.expect("ends");
    assert_eq!(db.count("SELECT count(*) FROM bookings").await, 1);
    work.stop().await;
}
