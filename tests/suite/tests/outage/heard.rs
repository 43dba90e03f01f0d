//! What one process starts, another hears of.

use std::time::{Duration, Instant};

use gen_durable::{Client, InstanceId, start};
use suite::{Db, eventually};

use super::{client, worker};
use crate::machines::Run;

suite::stores! {
    both { an_idle_worker_hears_of_work_long_before_its_poll }
}

/// The floor under lost wake-ups, and what a busy machine may add.
pub(crate) const POLL: Duration = Duration::from_secs(2);
pub(crate) const MARGIN: Duration = Duration::from_secs(1);
/// A wake-up that is heard.
const HEARD: Duration = Duration::from_millis(700);

/// Starts an instance each 150 ms until `enough`.
pub(crate) async fn insert_until(client: &Client, within: Duration, enough: impl AsyncFn() -> bool) -> Vec<InstanceId> {
    let (began, mut ids) = (Instant::now(), Vec::new());
    while !enough().await {
        assert!(began.elapsed() < within, "not within {within:?}");
        ids.extend(client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts").id());
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    ids
}

/// The longest an instance stood before its step began, in seconds.
pub(crate) async fn slowest(db: &Db, ids: &[InstanceId]) -> Duration {
    let all = async || {
        let run = "SELECT count(DISTINCT instance) FROM effects WHERE instance = ANY ($1)";
        usize::try_from(db.count_of(run, ids).await).expect("a count") == ids.len()
    };
    eventually("all ran", POLL + MARGIN, all).await;
    let sql = "SELECT max(extract(epoch FROM e.at - g.inserted_at))::float8 FROM effects e
               JOIN gen_durable g ON g.id = e.instance WHERE g.id = ANY ($1)";
    Duration::from_secs_f64(db.number_of(sql, ids).await.max(0.0))
}

/// Six starts, each on an idle worker.
pub(crate) async fn is_heard(db: &Db, client: &Client) {
    let began = Instant::now();
    let ids = insert_until(client, Duration::from_secs(10), async || began.elapsed() > Duration::from_secs(1)).await;
    let slowest = slowest(db, &ids).await;
    assert!(slowest < HEARD, "{slowest:?}");
}

/// O-48, O-62: what another process starts is heard at once, and so is what a waiting row is sent.
async fn an_idle_worker_hears_of_work_long_before_its_poll(db: Db) {
    let db = db.with_effects().await;
    let _process = worker(&db).poll(Duration::from_secs(60)).spawn().await;
    let client = client(&db).await;
    db.heard().await;
    is_heard(&db, &client).await;
}
