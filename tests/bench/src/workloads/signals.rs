//! W5: parked instances, woken by signals: what a delivery takes, and until all have ended.

use futures_util::future::try_join_all;
use gen_durable::{Client, InstanceId, start};

use crate::{
    Args, Fault, bare,
    machines::{Asleep, Crew, Go, Nothing, Parked},
    meter::Meter,
    place::{Bench, Place},
    report::{Section, Way},
};

const CLIENTS: usize = 16;

#[derive(Debug, Clone, Copy)]
enum Who {
    Bare,
    BareBatch,
    Singly,
    Batch,
    /// Singly, with a worker that runs them.
    Woken,
}

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let ways = vec![
        Way::bare(format!("bare SQL, {CLIENTS} connections"), Who::Bare),
        Way::bare("bare SQL, unnest of 200, one connection", Who::BareBatch),
        Way::beside(0, format!("signal, {CLIENTS} clients"), Who::Singly),
        Way::beside(1, "signal_many, one call", Who::Batch),
        Way::beside(0, "signal, 16 clients, until all have ended", Who::Woken),
    ];
    let run = async |who: &Who| {
        let bench = place.database().await?;
        let parked = park(&bench, args.signals).await?;
        let ids: Vec<i64> = parked.iter().map(|id| id.get()).collect();
        let (client, nothing) = (bench.client_of(16).await?, Nothing::default());
        let worker = match who {
            Who::Woken => Some(Crew::of(args.steps).worker(&bench.client, nothing.clone()).await?),
            Who::Bare | Who::BareBatch | Who::Singly | Who::Batch => None,
        };
        let meter = Meter::start(&bench).await?;
        match who {
            Who::Bare => bare::deliver_singly(&bench.pool, &ids, CLIENTS).await?,
            Who::BareBatch => bare::deliver(&bench.pool, &ids).await?,
            Who::Singly => singly(&client, &parked).await?,
            Who::Batch => {
                let calls = parked.iter().map(|id| client.by_id::<Parked>(*id).signal(Go {}));
                client.signal_many(calls).await?;
            }
            Who::Woken => {
                singly(&client, &parked).await?;
                bench.ended(&nothing, parked.len()).await?;
            }
        }
        let figure = meter.stop(parked.len()).await;
        if let Some(worker) = worker {
            worker.stop().await;
        }
        figure
    };
    let title = format!("W5 signals to {} parked instances", args.signals);
    Ok(vec![Section::of("signals", title, "signals/s").measure(args, ways, run).await?])
}

pub(super) async fn park(bench: &Bench, rows: usize) -> Result<Vec<InstanceId>, Fault> {
    let started = bench.client.start_many((0..rows).map(|_| start(Asleep {}))).await?;
    Ok(started.iter().map(|s| s.id()).collect())
}

async fn singly(client: &Client, parked: &[InstanceId]) -> Result<(), Fault> {
    let one = async |some: &[InstanceId]| -> Result<(), Fault> {
        for id in some {
            client.by_id::<Parked>(*id).signal(Go {}).await?;
        }
        Ok(())
    };
    try_join_all(parked.chunks(parked.len().div_ceil(CLIENTS)).map(one)).await.map(drop)
}
