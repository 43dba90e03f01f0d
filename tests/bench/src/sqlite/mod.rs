//! One file: drains and chains beside bare SQL of the same batch on one connection.

mod bare;
mod place;

use std::time::{Duration, Instant};

use crate::{
    Args,
    machines::{Nothing, worker},
    report::{Rates, cost, line},
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
    let (mut limit, mut ours, mut silent) = (Rates::default(), Rates::default(), Rates::default());
    for round in 0..args.rounds {
        limit.add(args.drain, bare_run("noop", "only", args.drain, batch, 1).await?);
        let mut pair = [("noop", &mut ours), ("silent_noop", &mut silent)];
        pair.rotate_left(round % 2);
        for (machine, rates) in pair {
            rates.add(args.drain, engine_run(machine, "only", args.drain, batch, 64).await?);
        }
    }
    line(&format!("drain, bare SQL, batch {batch}"), &limit, "rows/s", None);
    line(&format!("drain, engine, batch {batch}"), &ours, "jobs/s", Some(&limit));
    line("drain, engine, history off", &silent, "jobs/s", Some(&limit));
    cost("a history", &ours, &silent);
    Ok(())
}

async fn chain(args: &Args, batch: usize) -> Result<(), Fault> {
    let steps = args.chain * STEPS;
    let (mut limit, mut in_place, mut requeued) = (Rates::default(), Rates::default(), Rates::default());
    let (mut silent_in_place, mut silent_requeued) = (Rates::default(), Rates::default());
    for round in 0..args.rounds {
        limit.add(steps, bare_run("chain", "link", args.chain, batch, STEPS).await?);
        let mut runs = [
            (64, "chain", &mut in_place),
            (64, "silent_chain", &mut silent_in_place),
            (1, "chain", &mut requeued),
            (1, "silent_chain", &mut silent_requeued),
        ];
        runs.chunks_mut(2).for_each(|pair| pair.rotate_left(round % 2));
        for (in_a_row, machine, rates) in runs {
            rates.add(steps, engine_run(machine, "link", args.chain, batch, in_a_row).await?);
        }
    }
    line(&format!("chains, bare SQL in place, batch {batch}"), &limit, "steps/s", None);
    line("chains, engine, in place", &in_place, "steps/s", Some(&limit));
    line("chains, engine, in place, history off", &silent_in_place, "steps/s", Some(&limit));
    line("chains, engine, requeued after each step", &requeued, "steps/s", Some(&limit));
    line("chains, engine, requeued, history off", &silent_requeued, "steps/s", Some(&limit));
    cost("a history, in place", &in_place, &silent_in_place);
    cost("a history, requeued", &requeued, &silent_requeued);
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
