//! The test kit itself.

mod alone;
mod clock;
mod drain;
mod family;
mod panics;
mod schedules;
mod waits;

use gen_durable::testing::TestKit;
use kit_tests::Hands;

async fn kit() -> TestKit {
    TestKit::builder().await.handler(Hands::default()).build()
}

fn minutes(minutes: u64) -> std::time::Duration {
    std::time::Duration::from_secs(60 * minutes)
}
