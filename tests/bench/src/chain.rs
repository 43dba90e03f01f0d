//! Instances of five steps, each committed before the next: how many steps in a second.

use std::time::Instant;

use crate::{
    Args, bare,
    machines::{Nothing, worker},
    place::Place,
    report::{Rates, line},
};

const STEPS: usize = 5;

pub async fn measure(place: &Place, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    println!("chains: {} instances of {STEPS} steps", args.chain);
    let steps = args.chain * STEPS;
    let (mut limit, mut in_place, mut requeued) = (Rates::default(), Rates::default(), Rates::default());
    for _ in 0..args.rounds {
        let bench = place.database().await?;
        bench.fill("chain", "link", args.chain).await?;
        let began = Instant::now();
        bare::chain(&bench.pool, 2, args.batch, STEPS).await.map_err(|e| e.to_string())?;
        limit.add(steps, began.elapsed());
        for (in_a_row, rates) in [(64, &mut in_place), (1, &mut requeued)] {
            let bench = place.database().await?;
            bench.fill("chain", "link", args.chain).await?;
            let began = Instant::now();
            let nothing = Nothing::default();
            let worker = worker(&bench.client, nothing.clone(), args.steps, in_a_row, 1_000).await?;
            bench.ended(&nothing, args.chain).await?;
            rates.add(steps, began.elapsed());
            worker.stop().await;
        }
    }
    line(&format!("bare SQL in place, batch {}, two connections", args.batch), &limit, "steps/s", None);
    line("engine, in place", &in_place, "steps/s", Some(&limit));
    line("engine, requeued after each step", &requeued, "steps/s", Some(&limit));
    println!();
    Ok(())
}
