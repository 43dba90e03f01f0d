//! W9: the drain with so much step data.

use super::work_off;
use crate::{
    Args, Fault,
    bare::{self, Loop},
    machines::Crew,
    meter::Meter,
    place::Place,
    report::{Section, Way},
};

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    Ok(vec![
        one(place, args, "state-1k", 1, args.drain / 2).await?,
        one(place, args, "state-32k", 32, args.drain / 20).await?,
    ])
}

async fn one(place: &Place, args: &Args, id: &'static str, kilobytes: usize, rows: usize) -> Result<Section, Fault> {
    // Digits: what repeats would be compressed away.
    let digits: String =
        (0..).map(|n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).to_string()).take(kilobytes * 100).collect();
    let state = format!(r#"{{"body": "{}"}}"#, &digits[..kilobytes * 1_000]);
    let plain = Loop::of(args.batch);
    let ways = vec![
        Way::bare(format!("bare SQL, batch {}, two connections", args.batch), Some(plain)),
        Way::beside(0, format!("engine, {} steps at once", args.steps), None),
    ];
    let run = async |who: &Option<Loop>| {
        let bench = place.database().await?;
        bench.fill_with("laden", "carry", rows, &state).await?;
        let Some(how) = who else { return work_off(&bench, Crew::of(args.steps), rows, rows).await };
        let meter = Meter::start(&bench).await?;
        bare::drain(&bench.pool, *how).await?;
        meter.stop(rows).await
    };
    let title = format!("W9 drain of {rows} instances with {kilobytes} KB of step data");
    Section::of(id, title, "jobs/s").measure(args, ways, run).await
}
