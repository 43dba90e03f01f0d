//! W2: instances of five steps, each committed before the next: how many steps in a second.

use super::work_off;
use crate::{
    Args, Fault,
    bare::{self, Loop},
    machines::Crew,
    meter::Meter,
    place::Place,
    report::{Section, Way},
};

const STEPS: usize = 5;

#[derive(Debug, Clone, Copy)]
enum Who {
    InPlace(Loop),
    Requeued(Loop),
    /// The machine, and how many steps it runs in a row.
    Engine(&'static str, u32),
}

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let plain = Loop::of(args.batch);
    let ways = vec![
        Way::bare(format!("bare SQL in place, batch {}, two connections", args.batch), Who::InPlace(plain)),
        Way::bare("bare SQL, requeued", Who::Requeued(plain)),
        Way::beside(0, "bare SQL in place, with lines of history", Who::InPlace(Loop { history: true, ..plain })),
        Way::beside(0, "engine, in place", Who::Engine("chain", 64)),
        Way::beside(0, "engine, in place, history off", Who::Engine("silent_chain", 64)),
        Way::beside(1, "engine, requeued after each step", Who::Engine("chain", 1)),
        Way::beside(1, "engine, requeued, history off", Who::Engine("silent_chain", 1)),
    ];
    let steps = args.chain * STEPS;
    let run = async |who: &Who| {
        let bench = place.database().await?;
        bench.fill(if let Who::Engine(machine, _) = who { machine } else { "chain" }, "link", args.chain).await?;
        if let Who::Engine(_, in_place) = *who {
            return work_off(&bench, Crew { in_place, ..Crew::of(args.steps) }, args.chain, steps).await;
        }
        let meter = Meter::start(&bench).await?;
        match who {
            Who::InPlace(how) => bare::chain(&bench.pool, *how, STEPS).await?,
            Who::Requeued(how) => bare::requeued(&bench.pool, *how).await?,
            Who::Engine(..) => {}
        }
        meter.stop(steps).await
    };
    let title = format!("W2 chains: {} instances of {STEPS} steps", args.chain);
    Ok(vec![Section::of("chain", title, "steps/s").measure(args, ways, run).await?])
}
