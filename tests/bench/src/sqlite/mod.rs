//! One file: drains and chains beside bare SQL of the same batch on one connection.

mod bare;
mod place;

use crate::{
    Args, Fault,
    machines::{Crew, Nothing},
    meter::{Figure, Meter},
    report::{Section, Way},
};
use place::File;

const STEPS: usize = 5;

#[derive(Debug, Clone, Copy)]
enum Who {
    /// With lines of history or without.
    Bare(bool),
    /// The machine, and how many steps it runs in a row.
    Engine(&'static str, u32),
}

pub async fn measure(args: &Args) -> Result<Vec<Section>, Fault> {
    Ok(vec![
        drain(args, "sqlite-drain-200", 200).await?,
        drain(args, "sqlite-drain", 1_000).await?,
        chain(args, 200).await?,
    ])
}

async fn drain(args: &Args, id: &'static str, batch: usize) -> Result<Section, Fault> {
    let ways = vec![
        Way::bare(format!("bare SQL, batch {batch}"), Who::Bare(false)),
        Way::beside(0, "bare SQL, with lines of history", Who::Bare(true)),
        Way::beside(0, format!("engine, batch {batch}"), Who::Engine("noop", 64)),
        Way::beside(0, "engine, history off", Who::Engine("silent_noop", 64)),
    ];
    let run = async |who: &Who| one(*who, ("noop", "only"), args.drain, batch, 1).await;
    let title = format!("SQLite, one file, synchronous = FULL: drain of {}", args.drain);
    Section::of(id, title, "jobs/s").measure(args, ways, run).await
}

async fn chain(args: &Args, batch: usize) -> Result<Section, Fault> {
    let ways = vec![
        Way::bare(format!("bare SQL in place, batch {batch}"), Who::Bare(false)),
        Way::beside(0, "bare SQL in place, with lines of history", Who::Bare(true)),
        Way::beside(0, "engine, in place", Who::Engine("chain", 64)),
        Way::beside(0, "engine, in place, history off", Who::Engine("silent_chain", 64)),
        Way::beside(0, "engine, requeued after each step", Who::Engine("chain", 1)),
        Way::beside(0, "engine, requeued, history off", Who::Engine("silent_chain", 1)),
    ];
    let run = async |who: &Who| one(*who, ("chain", "link"), args.chain, batch, STEPS).await;
    let title = format!("SQLite: chains, {} instances of {STEPS} steps", args.chain);
    Section::of("sqlite-chain", title, "steps/s").measure(args, ways, run).await
}

/// The bare loop has the plain machine's rows.
async fn one(who: Who, plain: (&str, &str), rows: usize, batch: usize, steps: usize) -> Result<Figure, Fault> {
    let mut file = File::new().await?;
    let machine = if let Who::Engine(machine, _) = who { machine } else { plain.0 };
    file.fill(machine, plain.1, rows).await?;
    let (meter, nothing) = (Meter::here(), Nothing::default());
    match who {
        Who::Bare(history) => {
            bare::chain(&mut file.connection, batch, steps, history).await?;
            meter.stop(rows * steps).await
        }
        Who::Engine(_, in_place) => {
            // Twice the batch executes at once: while one half is committed the other one runs.
            let crew = Crew { in_place, batch: u32::try_from(batch)?, ..Crew::of(2 * batch) };
            let worker = crew.worker(&file.client, nothing.clone()).await?;
            file.ended(&nothing, rows).await?;
            let figure = meter.stop(rows * steps).await;
            worker.stop().await;
            figure
        }
    }
}
