//! Delays that are zero, past or absurd.

use std::time::{Duration, Instant};

use gen_durable::{Client, start};
use jiff::Timestamp;
use suite::Db;

use super::{Absurd, Ask, At, client, worker};
use crate::machines::{Patience, Run};

suite::stores! {
    both {
        a_start_delayed_beyond_a_century_is_refused,
        a_delay_of_nothing_is_now_and_a_century_is_not,
        an_outcome_delayed_beyond_a_century_is_an_error_of_its_step,
    }
}

const YEARS_300_000: Duration = Duration::from_secs(300_000 * 31_557_600);
const I64_MAX_MILLIS: Duration = Duration::from_millis(i64::MAX as u64);

/// O-35. Too long: a typed error that names the field; never at once because a number wrapped.
async fn a_start_delayed_beyond_a_century_is_refused(db: Db) {
    let client = client(&db).await;
    for delay in [Duration::MAX, I64_MAX_MILLIS, YEARS_300_000] {
        let error = client.start(start(Run { millis: 0, steps: 1 }).delay(delay)).await.expect_err("refused");
        assert_eq!((error.is_invalid(), error.field()), (true, Some("delay")), "{error}");
        let error = client.start(start(Patience { within: delay })).await.expect_err("refused");
        assert_eq!((error.is_invalid(), error.field()), (true, Some("timeout")), "{error}");
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 0);
}

/// O-35.
async fn a_delay_of_nothing_is_now_and_a_century_is_not(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    let began = Instant::now();
    for delay in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1)] {
        let run = client.start(start(Run { millis: 0, steps: 1 }).delay(delay)).await.expect("starts");
        run.wait().timeout(Duration::from_secs(5)).await.expect("ends");
    }
    for at in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::now()] {
        let past = client.start(start(At { at })).await.expect("starts");
        assert_eq!(past.wait().timeout(Duration::from_secs(5)).await.expect("ends"), "at");
    }
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let century = Duration::from_secs(100 * 31_536_000);
    let late = client.start(start(Run { millis: 0, steps: 1 }).delay(century)).await.expect("starts");
    let last = client.start(start(At { at: Timestamp::MAX })).await.expect("starts");
    let patient = client.start(start(Patience { within: century })).await.expect("starts");
    tokio::time::sleep(Duration::from_secs(1)).await;
    for id in [late.id(), last.id(), patient.id()].into_iter().flatten() {
        let snapshot = client.show(&gen_durable::Target::Id(id)).await.expect("there");
        assert_eq!(snapshot.transitions, 0, "{snapshot:?}");
    }
    assert_eq!(client.show(last.target()).await.expect("there").eligible_at.strftime("%Y").to_string(), "9999");
    worker.stop().await;
}

async fn asked(client: &Client, how: &str) -> String {
    let ask = client.start(start(Ask { how: how.into() })).await.expect("starts");
    ask.wait().timeout(Duration::from_secs(5)).await.expect("ends")
}

/// O-35: an outcome that asks for the impossible is an error of its step.
async fn an_outcome_delayed_beyond_a_century_is_an_error_of_its_step(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    assert_eq!(asked(&client, "retry max").await, "retry_in is longer than 100 years");
    assert_eq!(asked(&client, "goto max").await, "goto_after is longer than 100 years");
    assert_eq!(asked(&client, "goto zero").await, "on");
    assert_eq!(asked(&client, "retry 1 ms").await, "asked");
    assert_eq!(asked(&client, "past").await, "at");
    let never = client.start(start(Ask { how: "9999".into() })).await.expect("starts");
    never.wait().timeout(Duration::from_secs(1)).await.expect_err("not at once");
    assert!(matches!(never.get().await.expect("there"), Absurd::At { .. }));
    worker.stop().await;
}
