//! What random histories found, each as the shortest history that shows it.

use std::time::Duration;

use gen_durable_runtime::model::{ClaimToken, ConcurrencySlot, Entry, Json, StartSpec};
use model_tests::{
    HOUR,
    database::Database,
    driver::{Call, Driver},
};

/// Plays calls; the driver compares.
async fn agree(calls: impl IntoIterator<Item = Call>) {
    let databases = Database::all().await;
    let mut driver = Driver::new(&databases).await;
    for call in calls {
        if let Err(what) = driver.step(&call).await {
            panic!("{}\n{what}", driver.trace.join("\n"));
        }
    }
}

fn start(slot: Option<&str>) -> StartSpec {
    let concurrency = slot.map(|key| ConcurrencySlot { key: key.into(), limit: None });
    let entry = Entry { concurrency, ..Entry::plain("a", Json::object()) };
    StartSpec { defaults: ("q", 0), ..StartSpec::plain("m", 1, entry) }
}

fn claim(token: &str) -> Call {
    let (queue, limit, lease) = ("q", 10, Duration::from_secs(3_600));
    Call::Claim { queue, limit, token: ClaimToken::new(token), lease, known: &[("m", 1, "a")], crashed: true }
}

/// The second of two rows that crashed twice is left for the next claim, and so is whoever waits behind it for its key.
#[tokio::test]
async fn nobody_overtakes_a_crashed_row_in_the_line_of_its_key() {
    let lost = |token| [claim(token), Call::Shift(2 * HOUR), Call::Reap(10)];
    let first = Call::Start(vec![start(None), start(Some("slot:1"))]);
    let behind = Call::Start(vec![start(Some("slot:1"))]);
    // The first outage takes both; so does the second, after one crash each.
    agree([first].into_iter().chain(lost("w#1")).chain(lost("w#2")).chain([behind, claim("w#3"), claim("w#4")])).await;
}
