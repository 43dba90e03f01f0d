//! What a test that fails has to say.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use gen_durable::{
    prelude::*,
    testing::{StepRun, TestKit},
};
use kit_tests::{Hands, Open, Paid, Pay, Reserve, Round, Ship};

use super::{kit, minutes};

async fn said<F: Future>(fails: F) -> String {
    let panic = AssertUnwindSafe(fails).catch_unwind().await.err().expect("it fails");
    *panic.downcast::<String>().expect("a text")
}

#[tokio::test]
async fn an_expectation_that_fails_shows_the_timeline() {
    let kit = kit().await;
    let order = kit.start(start(Reserve { order: 7, failures: 1 })).await;
    kit.drain().await;
    kit.advance(minutes(2));
    let look = kit.look(&order).await;
    let text = said(async { look.done() }).await;
    let expected = "expected done\nparcel 1, awaiting_signal at pay {\"order\":7,\"failures\":1}\n  \
                    +0s  reserve: wait pay\n  +2m  now: waits for paid, declined, until +15m";
    assert_eq!(text, expected);
    kit.signal(&order, Paid { amount: 1 }).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    let text = said(async { look.at_step::<Pay>() }).await;
    assert!(text.contains("+2m  ship: retry, the carrier is down\n"), "{text}");
    assert!(text.contains("now: due at +2m "), "{text}");
    kit.run_for(minutes(1)).await;
    let look = kit.look(&order).await;
    let text = said(async { look.at_step::<Ship>() }).await;
    assert!(text.starts_with("expected at step ship") && text.contains("ship (attempt 1): done"), "{text}");
    assert!(text.ends_with("now: done with \"shipped at attempt 1\""), "{text}");
    for text in [said(async { look.failed().len() }).await, said(async { look.ran(["pay"]).attempt() }).await] {
        assert!(text.contains("reserve: wait pay"), "{text}");
    }
}

#[tokio::test]
async fn a_verb_that_fails_names_the_line_of_the_test() {
    let kit = TestKit::builder().await.handler(Hands::default()).step_cap(3).build();
    let circle = kit.start(start(Round { left: None })).await;
    let text = said(kit.drain()).await;
    assert!(text.contains("panics.rs:") && text.contains(&format!("instance {} ran 4", id(&circle))), "{text}");
    let kit = self::kit().await;
    let order = kit.start(start(Reserve { order: 7, failures: 0 })).await;
    kit.drain().await;
    kit.run_for(minutes(15)).await;
    let text = said(kit.signal(&order, Paid { amount: 1 })).await;
    assert!(text.contains("cannot signal: the instance has ended"), "{text}");
    let text = said(kit.look(&kit.client().of::<kit_tests::Parcel>(8))).await;
    assert!(text.contains("does not exist"), "{text}");
}

fn id<M: Machine>(of: &gen_durable::Handle<M>) -> String {
    of.id().expect("it was started").to_string()
}

#[tokio::test]
async fn an_outcome_that_is_another_says_which_it_is() {
    let outcome = StepRun::of(Pay { order: 7, failures: 0 }).signal(Paid { amount: 1 }).run(Hands::default()).await;
    let text = said(async { outcome.done() }).await;
    assert_eq!(text, "expected done of step pay, and it came to goto ship {\"order\":7,\"failures\":0}");
    let outcome = StepRun::of(Ship { order: 7, failures: 1 }).run(Hands::default()).await;
    let text = said(async { outcome.goto::<Pay>() }).await;
    assert_eq!(text, "expected goto pay of step ship, and it came to the error the carrier is down");
    let text = said(StepRun::of(Open).run(Hands::default())).await;
    assert!(text.contains("`.carry(..)`"), "{text}");
}
