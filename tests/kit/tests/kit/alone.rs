use std::{sync::Arc, time::Duration};

use gen_durable::{InstanceId, testing::StepRun};
use jiff::Timestamp;
use kit_tests::{
    Awake, Bind, Close, Declined, Develop, Hands, Lie, Open, Paid, Pay, Photo, Poll, Ship, Sort, Till, Write,
};

const PAY: Pay = Pay { order: 7, failures: 2 };

#[tokio::test]
async fn the_signal_decides_and_none_is_a_time_out() {
    let paid = StepRun::of(PAY).signal(Paid { amount: 1 }).run(Hands::default()).await;
    assert_eq!(paid.goto::<Ship>(), Ship { order: 7, failures: 2 });
    let declined = StepRun::of(PAY).signal(Declined {}).run(Hands::default()).await;
    assert_eq!(declined.done(), "declined");
    assert_eq!(StepRun::of(PAY).run(Hands::default()).await.done(), "nobody paid");
}

#[tokio::test]
async fn the_attempt_is_given() {
    let hands = Arc::new(Hands::default());
    let run = |attempt| StepRun::of(Ship { order: 7, failures: 2 }).attempt(attempt).run_shared(Arc::clone(&hands));
    let error = run(1).await;
    assert_eq!((error.error().to_string().as_str(), error.error().is_permanent()), ("the carrier is down", false));
    assert_eq!(run(2).await.done(), "shipped at attempt 2");
    assert_eq!(hands.notes(), ["ship 7 1", "ship 7 2"]);
}

#[tokio::test]
async fn time_and_delays_are_seen() {
    let now: Timestamp = "2020-02-29T12:00:00Z".parse().expect("a time");
    let outcome = StepRun::of(Lie { seen: vec![] }).now(now).id(InstanceId::new(4)).run(Hands::default()).await;
    assert_eq!((outcome.goto::<Awake>().seen, outcome.delay()), (vec![now], Duration::from_secs(600)));
    assert_eq!(StepRun::of(Poll { seen: vec![] }).run(Hands::default()).await.retries_in(), Duration::from_secs(20));
}

#[tokio::test]
async fn children_are_given_and_effects_are_seen() {
    let run = StepRun::of(Bind).child::<Photo>(Ok(1)).child::<Photo>(Err("too dark")).child::<Photo>(Ok(2));
    let outcome = run.open_children::<Photo>(4).run(Hands::default()).await;
    assert_eq!(outcome.done(), (2, 1));
    assert_eq!(outcome.spawned::<Write>(), [Write { text: "2 photos".into() }]);
    assert!(outcome.children::<Develop>().is_empty() && outcome.signals::<Paid>().is_empty());
    let outcome = StepRun::of(Sort { photos: 2, dark: 1 }).run(Hands::default()).await;
    outcome.goto::<Bind>();
    let fails: Vec<bool> = outcome.children::<Develop>().iter().map(|child| child.fails).collect();
    assert_eq!(fails, [true, false]);
    assert_eq!(StepRun::of(Develop { number: 1, fails: true }).run(Hands::default()).await.failed(), "too dark");
}

#[tokio::test]
async fn the_carry_comes_back_as_the_step_left_it() {
    let run = StepRun::of(Open).carry(Till { coins: 1 }).signal(Paid { amount: 2 }).signal(Paid { amount: 3 });
    let outcome = run.run(Hands::default()).await;
    outcome.goto::<Close>();
    assert_eq!(outcome.carry(), Till { coins: 6 });
}
