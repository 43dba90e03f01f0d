//! W1: no-op instances, started beforehand: how many end in a second.

use super::work_off;
use crate::{
    Args, Fault,
    bare::{self, Loop},
    machines::Crew,
    meter::Meter,
    place::Place,
    report::{Section, Way},
};

/// Who drains.
#[derive(Debug, Clone, Copy)]
enum Who {
    Bare(Loop),
    Engine(&'static str),
}

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let (few, many) = (args.drain, 4 * args.drain);
    Ok(vec![
        one(place, args, "drain", few, false).await?,
        one(place, args, "drain-analyzed", few, true).await?,
        one(place, args, "drain-many", many, false).await?,
        one(place, args, "drain-many-analyzed", many, true).await?,
    ])
}

async fn one(place: &Place, args: &Args, id: &'static str, rows: usize, analyzed: bool) -> Result<Section, Fault> {
    let plain = Loop::of(args.batch);
    let ways = vec![
        Way::bare(format!("bare SQL, batch {}, two connections", args.batch), Who::Bare(plain)),
        Way::beside(0, "bare SQL, with lines of history", Who::Bare(Loop { history: true, ..plain })),
        Way::beside(0, format!("engine, {} steps at once", args.steps), Who::Engine("noop")),
        Way::beside(0, "engine, history off", Who::Engine("silent_noop")),
    ];
    let title =
        format!("W1 drain of {rows} instances of one step{}", if analyzed { ", after VACUUM ANALYZE" } else { "" });
    let run = async |who: &Who| {
        let bench = place.database().await?;
        bench.fill(if let Who::Engine(machine) = who { machine } else { "noop" }, "only", rows).await?;
        if analyzed {
            bench.vacuum().await?;
        }
        match who {
            Who::Engine(_) => work_off(&bench, Crew::of(args.steps), rows, rows).await,
            Who::Bare(how) => {
                let meter = Meter::start(&bench).await?;
                bare::drain(&bench.pool, *how).await?;
                meter.stop(rows).await
            }
        }
    };
    Section::of(id, title, "jobs/s").measure(args, ways, run).await
}
