//! No-op instances, started beforehand: how many end in a second.

use std::time::Instant;

use crate::{
    Args, bare,
    machines::{Nothing, worker},
    place::Place,
    report::{Rates, cost, line},
};

pub async fn measure(place: &Place, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    println!("drain of {} instances of one step", args.drain);
    let (mut one, mut two) = (Rates::default(), Rates::default());
    let (mut ours, mut silent) = (Rates::default(), Rates::default());
    for round in 0..args.rounds {
        for (connections, rates) in [(1, &mut one), (2, &mut two)] {
            let bench = place.database().await?;
            bench.fill("noop", "only", args.drain).await?;
            let began = Instant::now();
            bare::drain(&bench.pool, connections, args.batch).await.map_err(|e| e.to_string())?;
            rates.add(args.drain, began.elapsed());
        }
        // Side by side, each first as often as the other.
        let mut pair = [("noop", &mut ours), ("silent_noop", &mut silent)];
        pair.rotate_left(round % 2);
        for (machine, rates) in pair {
            let bench = place.database().await?;
            bench.fill(machine, "only", args.drain).await?;
            let began = Instant::now();
            let nothing = Nothing::default();
            let worker = worker(&bench.client, nothing.clone(), args.steps, 64, 1_000).await?;
            bench.ended(&nothing, args.drain).await?;
            rates.add(args.drain, began.elapsed());
            worker.stop().await;
        }
    }
    line(&format!("bare SQL, batch {}, one connection", args.batch), &one, "rows/s", None);
    line(&format!("bare SQL, batch {}, two connections", args.batch), &two, "rows/s", None);
    line(&format!("engine, {} steps at once", args.steps), &ours, "jobs/s", Some(&two));
    line("engine, history off", &silent, "jobs/s", Some(&two));
    cost("a history", &ours, &silent);
    println!();
    Ok(())
}
