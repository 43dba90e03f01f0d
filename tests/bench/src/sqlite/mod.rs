//! One file: drains and chains beside bare SQL of the same batch on one connection.

mod bare;
mod place;

use std::time::{Duration, Instant};

use crate::{
    Args,
    machines::{Nothing, worker},
    report::{Rates, line},
};
use place::File;

const STEPS: usize = 5;

type Fault = Box<dyn std::error::Error>;

pub async fn measure(args: &Args) -> Result<(), Fault> {
    println!("SQLite, one file, synchronous = FULL");
    for batch in [200, 1_000] {
        drain(args, batch).await?;
    }
    chain(args, 200).await?;
    println!();
    Ok(())
}

async fn drain(args: &Args, batch: usize) -> Result<(), Fault> {
    let (mut limit, mut ours) = (Rates::default(), Rates::default());
    for _ in 0..args.rounds {
        limit.add(args.drain, bare_run("noop", "only", args.drain, batch, 1).await?);
        ours.add(args.drain, engine_run("noop", "only", args.drain, batch, 64).await?);
    }
    line(&format!("drain, bare SQL, batch {batch}"), &limit, "rows/s", None);
    line(&format!("drain, engine, batch {batch}"), &ours, "jobs/s", Some(&limit));
    Ok(())
}

async fn chain(args: &Args, batch: usize) -> Result<(), Fault> {
    let steps = args.chain * STEPS;
    let (mut limit, mut in_place, mut requeued) = (Rates::default(), Rates::default(), Rates::default());
    for _ in 0..args.rounds {
        limit.add(steps, bare_run("chain", "link", args.chain, batch, STEPS).await?);
        in_place.add(steps, engine_run("chain", "link", args.chain, batch, 64).await?);
        requeued.add(steps, engine_run("chain", "link", args.chain, batch, 1).await?);
    }
    line(&format!("chains, bare SQL in place, batch {batch}"), &limit, "steps/s", None);
    line("chains, engine, in place", &in_place, "steps/s", Some(&limit));
    line("chains, engine, requeued after each step", &requeued, "steps/s", Some(&limit));
    Ok(())
}

async fn bare_run(machine: &str, step: &str, rows: usize, batch: usize, steps: usize) -> Result<Duration, Fault> {
    let mut file = File::new().await?;
    file.fill(machine, step, rows).await?;
    let began = Instant::now();
    bare::chain(&mut file.connection, batch, steps).await?;
    Ok(began.elapsed())
}

/// Twice the batch executes at once: while one half is committed the other one runs.
async fn engine_run(machine: &str, step: &str, rows: usize, batch: usize, in_place: u32) -> Result<Duration, Fault> {
    let mut file = File::new().await?;
    file.fill(machine, step, rows).await?;
    let nothing = Nothing::default();
    let began = Instant::now();
    let worker = worker(&file.client, nothing.clone(), 2 * batch, in_place, u32::try_from(batch)?).await?;
    file.ended(&nothing, rows).await?;
    let took = began.elapsed();
    worker.stop().await;
    Ok(took)
}
