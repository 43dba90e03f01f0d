//! Instances of five steps, each committed before the next: how many steps in a second.

use std::time::Instant;

use crate::{
    Args, bare,
    machines::{Nothing, worker},
    place::Place,
    report::{Rates, cost, line},
};

const STEPS: usize = 5;

pub async fn measure(place: &Place, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    println!("chains: {} instances of {STEPS} steps", args.chain);
    let steps = args.chain * STEPS;
    let (mut limit, mut in_place, mut requeued) = (Rates::default(), Rates::default(), Rates::default());
    let (mut silent_in_place, mut silent_requeued) = (Rates::default(), Rates::default());
    for round in 0..args.rounds {
        let bench = place.database().await?;
        bench.fill("chain", "link", args.chain).await?;
        let began = Instant::now();
        bare::chain(&bench.pool, 2, args.batch, STEPS).await.map_err(|e| e.to_string())?;
        limit.add(steps, began.elapsed());
        let mut runs = [
            (64, "chain", &mut in_place),
            (64, "silent_chain", &mut silent_in_place),
            (1, "chain", &mut requeued),
            (1, "silent_chain", &mut silent_requeued),
        ];
        // Side by side, each first as often as the other.
        runs.chunks_mut(2).for_each(|pair| pair.rotate_left(round % 2));
        for (in_a_row, machine, rates) in runs {
            let bench = place.database().await?;
            bench.fill(machine, "link", args.chain).await?;
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
    line("engine, in place, history off", &silent_in_place, "steps/s", Some(&limit));
    line("engine, requeued after each step", &requeued, "steps/s", Some(&limit));
    line("engine, requeued, history off", &silent_requeued, "steps/s", Some(&limit));
    cost("a history, in place", &in_place, &silent_in_place);
    cost("a history, requeued", &requeued, &silent_requeued);
    println!();
    Ok(())
}
