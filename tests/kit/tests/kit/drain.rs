use std::{sync::Arc, time::Duration};

use gen_durable::{
    prelude::*,
    testing::{DrainError, TestKit},
};
use kit_tests::{Circle, Develop, Hands, Paid, Parcel, Pay, Photo, Reserve, Round, Write};

use super::{kit, minutes};

#[tokio::test]
async fn a_drain_runs_what_is_due_and_nothing_else() {
    let kit = kit().await;
    let order = kit.start(start(Reserve { order: 7, failures: 0 })).await;
    assert!(kit.look(&order).await.history().is_empty(), "nothing runs before it");
    assert_eq!(kit.drain().await, 1);
    assert_eq!(kit.drain().await, 0);
    assert_eq!(kit.look(&order).await.at_step::<Pay>(), Pay { order: 7, failures: 0 });
    kit.signal(&order, Paid { amount: 3 }).await;
    assert_eq!(kit.drain().await, 2);
    let order = kit.look(&order).await;
    assert_eq!(order.done(), "shipped at attempt 0");
    order.ran(["reserve", "pay", "ship"]);
}

#[tokio::test]
async fn rows_run_in_the_order_of_their_claims() {
    let order_of = async || {
        let hands = Arc::new(Hands::default());
        let kit = TestKit::builder().await.shared_handler(Arc::clone(&hands)).build();
        for (number, priority) in [(1, 0), (2, 0), (3, -1), (4, 5), (5, 0)] {
            kit.start(start(Develop { number, fails: false }).priority(priority)).await;
        }
        kit.advance(Duration::from_secs(1));
        kit.start(start(Develop { number: 6, fails: false })).await;
        kit.drain().await;
        hands.notes()
    };
    let first = order_of().await;
    assert_eq!(first, [3, 1, 2, 5, 6, 4].map(|number| format!("photo {number}")));
    assert_eq!(order_of().await, first);
}

#[tokio::test]
async fn a_backoff_is_the_same_in_every_run() {
    let due = async || {
        let kit = kit().await;
        let order = kit.start(start(Reserve { order: 1, failures: 3 })).await;
        kit.signal(&order, Paid { amount: 3 }).await;
        let began = kit.now();
        kit.drain().await;
        kit.look(&order).await.due_at().duration_since(began)
    };
    let first = due().await;
    assert!(first.as_millis() > 7_000 && first.as_millis() < 10_000, "{first:#}");
    assert_eq!(due().await, first);
}

#[tokio::test]
async fn an_endless_machine_meets_the_step_cap() {
    let kit = TestKit::builder().await.handler(Hands::default()).step_cap(50).build();
    kit.start(start(Develop { number: 1, fails: false })).await;
    let endless = kit.start(start(Round { left: None })).await;
    let error = kit.try_drain().await.expect_err("it never ends");
    let DrainError::StepCap(overrun) = &error else { panic!("{error}") };
    assert_eq!(overrun.instance(), endless.id());
    assert_eq!(overrun.last().count(), 8);
    let text = error.to_string();
    assert!(text.contains("not done after 50 steps") && text.contains("circle 2 at round"), "{text}");
}

#[tokio::test]
async fn as_many_steps_as_the_cap_are_no_overrun() {
    let kit = TestKit::builder().await.handler(Hands::default()).step_cap(50).build();
    let circle = kit.start(start(Round { left: Some(49) })).await;
    assert_eq!(kit.drain().await, 50);
    kit.look(&circle).await.done();
    kit.start(start(Round { left: Some(50) })).await;
    assert!(kit.try_drain().await.is_err());
}

#[tokio::test]
async fn a_poll_for_ever_meets_the_cap_of_the_whole_span() {
    let kit = TestKit::builder().await.handler(Hands::default()).step_cap(20).build();
    let parcel = kit.start(start(Reserve { order: 1, failures: 100 })).await;
    kit.signal(&parcel, Paid { amount: 1 }).await;
    assert_eq!(kit.run_for(minutes(10)).await, 7, "four attempts, and it was released");
    kit.start(start(Round { left: None })).await;
    assert!(kit.try_run_for(minutes(10)).await.is_err());
}

#[tokio::test]
async fn one_row_at_a_time_is_run_next() {
    let kit = kit().await;
    kit.start(start(Reserve { order: 7, failures: 0 })).await;
    kit.start(start(Develop { number: 3, fails: false })).await;
    let ran = [kit.run_next().await, kit.run_next().await, kit.run_next().await];
    let steps = ran.map(|ran| ran.map(|ran| (ran.machine, ran.step)));
    let of = |machine: &str, step: &str| Some((machine.to_owned(), step.to_owned()));
    assert_eq!(steps, [of("parcel", "reserve"), of("photo", "develop"), None]);
}

#[tokio::test]
async fn a_second_start_of_a_key_is_told_who_has_it() {
    let kit = kit().await;
    let first = kit.start(start(Reserve { order: 7, failures: 0 })).await;
    let second = kit.start(start(Reserve { order: 7, failures: 1 })).await;
    assert!(first.is_new() && !second.is_new());
    assert_eq!(first.id(), second.id());
    assert_eq!(kit.drain().await, 1);
    let by_key = kit.client().of::<Parcel>(7);
    assert_eq!(kit.look(&by_key).await.at_step::<Pay>().failures, 0);
    let twice = [(); 2].map(|()| by_key.signal(Paid { amount: 1 }).dedup("payment 1"));
    let [first, second] = twice.map(IntoFuture::into_future);
    assert!(!first.await.expect("delivered").duplicate);
    assert!(second.await.expect("delivered").duplicate);
}

#[tokio::test]
async fn a_queue_of_its_own_is_found() {
    let kit = kit().await;
    let photo = kit.start(start(Develop { number: 5, fails: false }).queue("dark room")).await;
    let card = kit.start(start(Write { text: "hello".into() })).await;
    assert_eq!(kit.drain().await, 2);
    assert_eq!(kit.look(&photo).await.done(), 5);
    kit.look(&card).await.done();
}

/// Serves photos alone.
struct Fake;

impl kit_tests::PhotoSteps for Fake {
    async fn develop(&self, step: Develop, _: &StepContext) -> StepResult<Develop> {
        Ok(done(step.number * 100))
    }
}

#[tokio::test]
async fn a_fake_serves_one_machine_and_the_rest_is_named() {
    let kit = TestKit::builder().await.serve::<Photo, _>(Fake).build();
    let photo = kit.start(start(Develop { number: 5, fails: true })).await;
    kit.drain().await;
    assert_eq!(kit.look(&photo).await.done(), 500);
    let circle = kit.start(start(Round { left: Some(1) })).await;
    let error = kit.try_drain().await.expect_err("nobody serves it").to_string();
    assert!(error.contains("circle 2 at round") && error.contains(".handler(..)"), "{error}");
    assert_eq!(kit.look::<Circle>(&circle).await.attempt(), 0);

    let kit = TestKit::builder().await.serve::<Photo, _>(Fake).leave_unserved().build();
    kit.start(start(Round { left: Some(1) })).await;
    assert_eq!(kit.drain().await, 0);
}

#[tokio::test]
async fn a_panic_of_a_handler_is_an_error_of_its_step() {
    let kit = kit().await;
    let photo = kit.start(start(Develop { number: 1_000, fails: false })).await;
    assert_eq!(kit.drain().await, 1);
    let look = kit.look(&photo).await;
    assert_eq!((look.attempt(), look.error()), (1, Some("panicked: the lamp went out")));
    assert_eq!(kit.run_for(Duration::from_secs(1)).await, 1);
    assert_eq!(kit.look(&photo).await.done(), 1_000);
}

#[tokio::test]
async fn kits_know_nothing_of_each_other() {
    let [one, other] = [kit().await, kit().await];
    one.start(start(Reserve { order: 7, failures: 0 })).await;
    assert_eq!(other.drain().await, 0);
    assert!(other.start(start(Reserve { order: 7, failures: 0 })).await.is_new());
}
