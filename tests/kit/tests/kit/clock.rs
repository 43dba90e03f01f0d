use std::time::Duration;

use gen_durable::{Status, prelude::*};
use jiff::ToSpan;
use kit_tests::{Awake, Develop, Lie, Paid, Pay, Reserve, Ship};

use super::{kit, minutes};

#[tokio::test]
async fn time_stands_still_until_it_is_moved() {
    let kit = kit().await;
    let began = kit.now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(kit.now(), began);
    kit.advance(minutes(90));
    assert_eq!(kit.now(), began + 90.minutes());
}

#[tokio::test]
async fn delays_timers_and_polls_come_due_and_handlers_see_the_clock() {
    let kit = kit().await;
    let began = kit.now();
    let nap = kit.start(start(Lie { seen: vec![] }).delay(minutes(5))).await;
    assert_eq!(kit.drain().await, 0, "it begins later");
    kit.advance(minutes(5));
    assert_eq!(kit.drain().await, 1);
    let look = kit.look(&nap).await;
    assert_eq!((look.due_at(), look.at_step::<Awake>().seen.len()), (began + 15.minutes(), 1));
    kit.advance(minutes(10) - Duration::from_micros(1));
    assert_eq!(kit.drain().await, 0, "never early");
    kit.advance(Duration::from_micros(1));
    assert_eq!(kit.drain().await, 1);
    kit.advance(minutes(60));
    assert_eq!(kit.drain().await, 2, "the dream, and the first of four polls");
    for poll in 1..=3 {
        kit.advance(Duration::from_secs(19));
        assert_eq!(kit.drain().await, 0, "poll {poll}");
        kit.advance(Duration::from_secs(1));
        assert_eq!(kit.drain().await, 1, "poll {poll}");
    }
    let seen = kit.look(&nap).await.done();
    assert_eq!(seen, [5.minutes(), 15.minutes(), 75.minutes(), 76.minutes()].map(|after| began + after));
}

#[tokio::test]
async fn as_time_passes_each_row_runs_at_its_moment() {
    let kit = kit().await;
    let began = kit.now();
    let nap = kit.start(start(Lie { seen: vec![] }).delay(minutes(5))).await;
    assert_eq!(kit.run_for(minutes(24 * 60)).await, 7);
    assert_eq!(kit.now(), began + 24.hours());
    let seen = kit.look(&nap).await.done();
    assert_eq!(seen, [5.minutes(), 15.minutes(), 75.minutes(), 76.minutes()].map(|after| began + after));
}

#[tokio::test]
async fn a_retry_is_due_after_its_backoff_and_a_catch_after_the_last() {
    let kit = kit().await;
    let order = kit.start(start(Reserve { order: 7, failures: 9 })).await;
    kit.signal(&order, Paid { amount: 1 }).await;
    assert_eq!(kit.drain().await, 3);
    for (attempt, backoff) in [(1, 10), (2, 20), (3, 40)] {
        let look = kit.look(&order).await;
        assert_eq!((look.attempt(), look.error()), (attempt, Some("the carrier is down")));
        look.at_step::<Ship>();
        kit.advance(Duration::from_secs(backoff / 2));
        assert_eq!(kit.drain().await, 0, "attempt {attempt}");
        kit.advance(Duration::from_secs(backoff.div_ceil(2)));
        assert!(kit.drain().await > 0, "attempt {attempt}");
    }
    let look = kit.look(&order).await;
    assert_eq!(look.done(), "the carrier is down after 4");
    look.ran(["reserve", "pay", "ship", "ship", "ship", "ship", "release"]);
}

#[tokio::test]
async fn a_wait_is_over_with_the_drain_that_finds_it_over() {
    let kit = kit().await;
    let early = kit.start(start(Reserve { order: 1, failures: 0 })).await;
    let late = kit.start(start(Reserve { order: 2, failures: 0 })).await;
    kit.drain().await;
    kit.advance(minutes(15));
    kit.signal(&early, Paid { amount: 1 }).await;
    kit.drain().await;
    assert_eq!(kit.look(&early).await.done(), "shipped at attempt 0");
    assert_eq!(kit.look(&late).await.done(), "nobody paid");
    let refused = late.signal(Paid { amount: 1 }).await.expect_err("it has ended");
    assert!(refused.is_no_target(), "{refused}");
}

#[tokio::test]
async fn history_has_the_times_of_the_clock() {
    let kit = kit().await;
    let began = kit.now();
    let order = kit.start(start(Reserve { order: 7, failures: 0 })).await;
    kit.drain().await;
    kit.advance(minutes(3));
    kit.signal(&order, Paid { amount: 1 }).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    let times: Vec<_> = look.history().iter().map(|line| (line.started_at, line.committed_at)).collect();
    let [first, second] = [began, began + 3.minutes()];
    assert_eq!(times, [(first, first), (second, second), (second, second)]);
    assert_eq!(look.snapshot().inserted_at, began);
}

#[tokio::test]
async fn a_parked_row_says_when_its_wait_ends() {
    let kit = kit().await;
    let order = kit.start(start(Reserve { order: 7, failures: 0 })).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    look.waits_for::<Paid>().waits_for::<kit_tests::Declined>();
    assert_eq!(look.status(), Status::AwaitingSignal);
    assert_eq!(look.times_out_at(), Some(kit.now() + 15.minutes()));
    assert_eq!(look.at_step::<Pay>().order, 7);
}

#[tokio::test]
async fn a_kit_is_made_in_no_time() {
    let mut took: Vec<Duration> = Vec::new();
    for number in 0..9 {
        let began = std::time::Instant::now();
        let kit = kit().await;
        took.push(began.elapsed());
        kit.start(start(Develop { number, fails: false })).await;
        assert_eq!(kit.drain().await, 1);
    }
    took.sort();
    println!("a kit is made in {:?}, at most {:?}", took[4], took[8]);
}
