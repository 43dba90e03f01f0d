//! W4 and W5 on an idle system: from the commit of a start, or of a signal, to the handler's first line, and to done.

use std::time::{Duration, Instant};

use gen_durable::{Client, InstanceId, start};

use super::signals::park;
use crate::{
    Args, Fault,
    machines::{Crew, Go, Nothing, Only, Parked},
    meter::Figure,
    place::{Bench, Place},
    report::{Line, Section, print},
};

/// What is taken each time, in milliseconds.
const LINES: [&str; 4] = [
    "a bare insert committed",
    "start committed, to the handler",
    "start committed, to done",
    "signal committed, to the handler",
];

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let bench = place.database().await?;
    // The client is another process's: it shares nothing with the worker but the database.
    let client = Client::connect(&bench.url).await?;
    let nothing = Nothing::watching();
    let parked = park(&bench, args.latency).await?;
    let worker = Crew::of(10).worker(&bench.client, nothing.clone()).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut spans = [const { vec![] }; 4];
    for id in parked {
        let commit = Instant::now();
        sqlx::query(include_str!("../sql/commit.sql")).execute(&bench.pool).await?;
        spans[0].push(ms(commit.elapsed()));
        let [first, done] = started(&client, &bench, &nothing).await?;
        spans[1].push(first);
        spans[2].push(done);
        tokio::time::sleep(Duration::from_millis(5)).await;
        client.by_id::<Parked>(id).signal(Go {}).await?;
        let committed = Instant::now();
        spans[3].push(ms(first_line(&nothing, id).await.saturating_duration_since(committed)));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.stop().await;
    let section = section(args.latency, spans);
    print(std::slice::from_ref(&section));
    Ok(vec![section])
}

/// Each span once, beside the bare commit; and its 99th hundredth.
fn section(times: usize, spans: [Vec<f64>; 4]) -> Section {
    let mut section =
        Section::of("latency", format!("W4 latency of {times} starts and signals on an idle system"), "ms");
    for (name, mut values) in LINES.into_iter().zip(spans) {
        let limit = (!section.lines.is_empty()).then_some(0);
        values.sort_by(f64::total_cmp);
        // The slowest hundredth is a line of its own, so the spread of the first is that of all others.
        let slowest = values.split_off(values.len() * 99 / 100);
        let figures = |values: Vec<f64>| values.into_iter().map(Figure::of).collect();
        section.lines.push(Line { name: format!("{name}, p50"), figures: figures(values), limit });
        section.lines.push(Line {
            name: format!("{name}, p99"),
            figures: figures(slowest[..1].to_vec()),
            limit: limit.map(|_| 1),
        });
    }
    section
}

/// To the handler's first line, and to done.
async fn started(client: &Client, bench: &Bench, nothing: &Nothing) -> Result<[f64; 2], Fault> {
    let handle = client.start(start(Only { left: 0 })).await?;
    let committed = Instant::now();
    let id = handle.id().ok_or("a start knows its id")?;
    let first = first_line(nothing, id).await;
    let done = sqlx::query_scalar::<_, i64>(include_str!("../sql/is_done.sql")).bind(id.get());
    let mut is_done = done.fetch_one(&bench.pool).await?;
    while is_done == 0 {
        let done = sqlx::query_scalar::<_, i64>(include_str!("../sql/is_done.sql")).bind(id.get());
        is_done = done.fetch_one(&bench.pool).await?;
    }
    Ok([ms(first.saturating_duration_since(committed)), ms(committed.elapsed())])
}

async fn first_line(nothing: &Nothing, id: InstanceId) -> Instant {
    loop {
        if let Some(at) = nothing.began(id) {
            return at;
        }
        tokio::time::sleep(Duration::from_micros(50)).await;
    }
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}
