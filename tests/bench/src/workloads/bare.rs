//! The limits themselves: bare loops of every size.

use crate::{
    Args, Fault,
    bare::{self, Loop},
    meter::Meter,
    place::Place,
    report::{Section, Way},
};

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let mut ways = vec![];
    for connections in [1, 2, 4] {
        for batch in [50, 200, 500, 1_000] {
            for fused in [false, true] {
                let kind = if fused { "fused" } else { "plain" };
                let name = format!("{connections} connections, batch {batch}, {kind}");
                ways.push(Way::bare(name, Loop { connections, batch, fused, history: false }));
            }
        }
    }
    let run = async |how: &Loop| {
        let bench = place.database().await?;
        bench.fill("noop", "only", args.drain).await?;
        let meter = Meter::start(&bench).await?;
        bare::drain(&bench.pool, *how).await?;
        meter.stop(args.drain).await
    };
    let title = format!("The limits: bare claims and ends of {} rows", args.drain);
    Ok(vec![Section::of("bare", title, "rows/s").measure(args, ways, run).await?])
}
