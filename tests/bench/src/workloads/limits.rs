//! W7: the drain with a limit that nothing uses, with limits that never bite, and with one that does.

use gen_durable::{Client, Startable, start};

use super::work_off;
use crate::{
    Args, Fault,
    machines::{Crew, Free, Metered, Nothing, Only, RATE, Throttled, Watched},
    meter::Figure,
    place::Place,
    report::{Section, Way},
};

#[derive(Debug, Clone, Copy)]
enum Under {
    Nothing,
    /// Limits are defined, and the instances have none.
    Unused,
    /// The same, by instances of a machine that has some.
    Free,
    Gate,
    Idle,
    Tight,
    /// What the tight limit allows: no run.
    Allowed,
}

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let ways = vec![
        Way::bare("engine, no limit known", Under::Nothing),
        Way::beside(0, "engine, limits that nobody uses", Under::Unused),
        Way::beside(0, "engine, a free step beside limited ones", Under::Free),
        Way::beside(0, "engine, a gate of 8 shards, not full", Under::Gate),
        Way::beside(0, "engine, a rate limit that never bites", Under::Idle),
        Way::bare("what the tight limit allows", Under::Allowed),
        Way::beside(5, "engine, a rate limit that bites", Under::Tight),
    ];
    let run = async |under: &Under| {
        let bench = place.database().await?;
        let (client, rows) = (&bench.client, args.drain);
        let crew = Crew { limits: !matches!(under, Under::Nothing), ..Crew::of(args.steps) };
        // One has booted before: its limits are known.
        crew.worker(client, Nothing::default()).await?.stop().await;
        match under {
            Under::Allowed => return Ok(Figure::of(f64::from(RATE))),
            Under::Nothing | Under::Unused => fill(client, rows, || start(Only { left: 0 })).await?,
            Under::Free => fill(client, rows, || start(Free {})).await?,
            Under::Gate => fill(client, rows, || start(Watched {})).await?,
            Under::Idle => fill(client, rows, || start(Metered {})).await?,
            Under::Tight => fill(client, rows, || start(Throttled {})).await?,
        }
        work_off(&bench, crew, rows, rows).await
    };
    let title = format!("W7 drain of {} instances under limits", args.drain);
    Ok(vec![Section::of("limits", title, "jobs/s").measure(args, ways, run).await?])
}

/// Starts so many: each knows its limits as a user's does.
async fn fill<S: Startable>(client: &Client, rows: usize, one: impl Fn() -> S) -> Result<(), Fault> {
    for _ in 0..rows / 1_000 {
        client.start_many((0..1_000).map(|_| one())).await?;
    }
    client.start_many((0..rows % 1_000).map(|_| one())).await?;
    Ok(())
}
