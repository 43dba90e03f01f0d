//! No-op instances, started beforehand: how many end in a second.

use std::time::Instant;

use crate::{
    Args, bare,
    machines::{Nothing, worker},
    place::Place,
    report::{Rates, line},
};

pub async fn measure(place: &Place, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    println!("drain of {} instances of one step", args.drain);
    let (mut one, mut two, mut ours) = (Rates::default(), Rates::default(), Rates::default());
    for _ in 0..args.rounds {
        for (connections, rates) in [(1, &mut one), (2, &mut two)] {
            let bench = place.database().await?;
            bench.fill("noop", "only", args.drain).await?;
            let began = Instant::now();
            bare::drain(&bench.pool, connections, args.batch).await.map_err(|e| e.to_string())?;
            rates.add(args.drain, began.elapsed());
        }
        let bench = place.database().await?;
        bench.fill("noop", "only", args.drain).await?;
        let began = Instant::now();
        let nothing = Nothing::default();
        let worker = worker(&bench.client, nothing.clone(), args.steps, 64, 1_000).await?;
        bench.ended(&nothing, args.drain).await?;
        ours.add(args.drain, began.elapsed());
        worker.stop().await;
    }
    line(&format!("bare SQL, batch {}, one connection", args.batch), &one, "rows/s", None);
    line(&format!("bare SQL, batch {}, two connections", args.batch), &two, "rows/s", None);
    line(&format!("engine, {} steps at once", args.steps), &ours, "jobs/s", Some(&two));
    println!();
    Ok(())
}
