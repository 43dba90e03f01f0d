//! W6: parents, their children and their joins, beside as many instances of one step.

use gen_durable::start;

use super::work_off;
use crate::{
    Args, Fault,
    machines::{Crew, Parent},
    place::Place,
    report::{Section, Way},
};

const CHILDREN: u32 = 100;

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let children = usize::try_from(CHILDREN)?;
    // A parent runs twice.
    let (ends, steps) = (args.parents * (children + 1), args.parents * (children + 2));
    let ways = vec![
        Way::bare("engine, a drain of as many instances", false),
        Way::beside(0, format!("engine, {} parents of {CHILDREN}", args.parents), true),
    ];
    let run = async |families: &bool| {
        let bench = place.database().await?;
        if !*families {
            bench.fill("noop", "only", steps).await?;
            return work_off(&bench, Crew::of(args.steps), steps, steps).await;
        }
        bench.client.start_many((0..args.parents).map(|_| start(Parent { children: CHILDREN }))).await?;
        work_off(&bench, Crew::of(args.steps), ends, steps).await
    };
    let title = format!("W6 fan-out: {} parents of {CHILDREN} children and their joins", args.parents);
    Ok(vec![Section::of("families", title, "steps/s").measure(args, ways, run).await?])
}
