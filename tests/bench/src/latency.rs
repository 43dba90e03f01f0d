//! An idle system: from the commit of a start to the handler's first line, and to the result.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use gen_durable::{InstanceId, start};

use crate::{
    Args,
    machines::{Nothing, Only, worker},
    place::Place,
    report::percentile,
};

pub async fn measure(place: &Place, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    println!("latency of {} single starts on an idle system", args.latency);
    let bench = place.database().await?;
    // The client is another process's: it shares nothing with the worker but the database.
    let client = gen_durable::Client::connect(&bench.url).await?;
    let began = Arc::new(Mutex::new(HashMap::<InstanceId, Instant>::new()));
    let watched = Nothing { began: Some(Arc::clone(&began)), ..Nothing::default() };
    let worker = worker(&bench.client, watched, 10, 64, 1_000).await?;
    let (mut commits, mut starts, mut ends) = (vec![], vec![], vec![]);
    tokio::time::sleep(Duration::from_millis(300)).await;
    for _ in 0..args.latency {
        let bare = Instant::now();
        sqlx::query(include_str!("sql/commit.sql")).execute(&bench.pool).await?;
        commits.push(ms(bare.elapsed()));
        let handle = client.start(start(Only { left: 0 })).await?;
        let committed = Instant::now();
        let id = handle.id().ok_or("a start knows its id")?;
        let first = loop {
            if let Some(at) = began.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
                break *at;
            }
            tokio::time::sleep(Duration::from_micros(50)).await;
        };
        starts.push(ms(first.saturating_duration_since(committed)));
        while sqlx::query_scalar::<_, i64>(include_str!("sql/is_done.sql"))
            .bind(id.get())
            .fetch_one(&bench.pool)
            .await?
            == 0
        {}
        ends.push(ms(committed.elapsed()));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.stop().await;
    for (what, values) in [
        ("a bare insert committed", &commits),
        ("start committed, to the handler", &starts),
        ("start committed, to done", &ends),
    ] {
        println!("  {what:40} p50 {:.2} ms, p99 {:.2} ms", percentile(values, 0.5), percentile(values, 0.99));
    }
    println!();
    Ok(())
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}
