//! W8: minute after minute, with a transaction held open elsewhere, so that nothing dead goes; then with a vacuum that lags.

use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection};

use super::work_off;
use crate::{
    Args, Fault,
    bare::{self, Loop},
    machines::Crew,
    meter::{Figure, Meter},
    place::{Bench, Place},
    report::{Line, Section, print},
};

/// Minutes under an old transaction, and after it.
const HELD: usize = 10;
const LAGGING: usize = 5;
const MINUTE: Duration = Duration::from_secs(60);

/// The engine's and the limit's databases.
struct Two {
    bare: Bench,
    engine: Bench,
}

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let two = Two { bare: place.database().await?, engine: place.database().await? };
    let mut section = Section::of("long", format!("W8 {} instances each minute", 2 * args.drain), "jobs/s");
    let open = [hold(&two.bare).await?, hold(&two.engine).await?];
    for minute in 1..=HELD {
        minute_of(&two, args, &format!("minute {minute}, an old transaction"), &mut section).await?;
    }
    for transaction in open {
        transaction.close().await?;
    }
    for bench in [&two.bare, &two.engine] {
        sqlx::query(include_str!("../sql/vacuum_off.sql")).execute(&bench.pool).await?;
    }
    for minute in HELD + 1..=HELD + LAGGING {
        minute_of(&two, args, &format!("minute {minute}, no vacuum"), &mut section).await?;
    }
    print(std::slice::from_ref(&section));
    Ok(vec![section])
}

/// A snapshot of now, for as long as the connection lives.
async fn hold(bench: &Bench) -> Result<PgConnection, Fault> {
    let mut connection = PgConnection::connect(&bench.url).await?;
    sqlx::raw_sql(include_str!("../sql/hold_snapshot.sql")).execute(&mut connection).await?;
    Ok(connection)
}

async fn minute_of(two: &Two, args: &Args, name: &str, section: &mut Section) -> Result<(), Fault> {
    let (began, rows) = (Instant::now(), 2 * args.drain);
    let limit = section.lines.len();
    two.bare.fill("noop", "only", rows).await?;
    let meter = Meter::start(&two.bare).await?;
    bare::drain(&two.bare.pool, Loop { history: true, ..Loop::of(args.batch) }).await?;
    let theirs = meter.stop(rows).await?;
    let done = two.engine.done().await?;
    two.engine.fill("noop", "only", rows).await?;
    let ours = work_off(&two.engine, Crew::of(args.steps), rows, rows).await?;
    assert!(two.engine.done().await? >= done + i64::try_from(rows)?, "all of them ended");
    let sizes = [two.bare.megabytes().await?, two.engine.megabytes().await?];
    println!(
        "  {name}: bare {:.0} jobs/s, {} MB; engine {:.0} jobs/s, {} MB",
        theirs.value, sizes[0], ours.value, sizes[1]
    );
    let line = |who: &str, size: i64, figure: Figure, limit| Line {
        name: format!("{name}, {who} ({size} MB)"),
        figures: vec![figure],
        limit,
    };
    section.lines.push(line("bare SQL", sizes[0], theirs, None));
    section.lines.push(line("engine", sizes[1], ours, Some(limit)));
    tokio::time::sleep(MINUTE.saturating_sub(began.elapsed())).await;
    Ok(())
}
