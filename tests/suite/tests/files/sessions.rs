//! Calls that are dropped half way: by a timeout of the caller's, by a `select!`, by the end of a worker.

use std::{future::Future, time::Duration};

use gen_durable::start;
use sqlx::{Connection as _, SqliteConnection};
use suite::eventually;

use super::{machines::Run, place::Place};

/// Drops the call when it was looked at so often.
async fn dropped_after<T>(polls: usize, call: impl Future<Output = T>) -> Option<T> {
    let enough = async {
        for _ in 0..polls {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { biased; answer = call => Some(answer), () = enough => None }
}

async fn is_free(other: &mut SqliteConnection) -> bool {
    sqlx::raw_sql("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK").execute(other).await.is_ok()
}

/// Whatever it was at: it took place as a whole or not at all, holds nothing, and the next call goes on.
#[tokio::test]
async fn a_call_that_is_dropped_half_way_leaves_nothing_half_done() {
    let place = Place::migrated().await;
    let (client, mut other) = (place.client(), place.look().await);
    let (mut answered, mut unknown) = (0, 0);
    for polls in 0..300 {
        let pair = || (0..2).map(|_| start(Run { millis: 0, steps: 1 }));
        match dropped_after(polls * 7 % 300, client.start_many(pair())).await {
            Some(started) => answered += started.expect("starts").len(),
            None => unknown += 2,
        }
        if polls % 3 == 0 {
            let free = async || is_free(&mut other).await;
            eventually("nothing is held", Duration::from_secs(2), free).await;
        } else {
            answered += client.start_many(pair()).await.expect("starts").len();
        }
    }
    other.close().await.expect("closes");
    let stands = usize::try_from(place.count("SELECT count(*) FROM gen_durable").await).expect("small");
    assert!((answered..=answered + unknown).contains(&stands), "{answered} and {unknown}: {stands}");
    assert_eq!(stands % 2, 0, "both or none");
    assert!(unknown > 100 && answered > 400, "{answered} and {unknown}: the moments were well chosen");
    place.is_sound().await;
}
