//! W3: starts, in bulk and singly, with no worker beside them.

use futures_util::future::try_join_all;
use gen_durable::start;

use crate::{
    Args, Fault, bare,
    machines::Only,
    meter::Meter,
    place::Place,
    report::{Section, Way},
};

/// Who starts one at a time, at once.
const CLIENTS: usize = 16;
/// Of a call in bulk.
const BULK: usize = 1_000;

#[derive(Debug, Clone, Copy)]
enum Who {
    Bare,
    Client,
}

pub async fn measure(place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    let singles = args.drain / 5;
    Ok(vec![bulk(place, args, args.drain).await?, single(place, args, singles).await?])
}

async fn bulk(place: &Place, args: &Args, rows: usize) -> Result<Section, Fault> {
    let ways = vec![
        Way::bare("bare SQL, unnest of 1000, one connection", Who::Bare),
        Way::beside(0, "start_many of 1000", Who::Client),
    ];
    let run = async |who: &Who| {
        let bench = place.database().await?;
        let client = bench.client_of(1).await?;
        let meter = Meter::start(&bench).await?;
        match who {
            Who::Bare => bare::in_bulk(&bench.pool, rows).await?,
            Who::Client => {
                for _ in 0..rows / BULK {
                    client.start_many((0..BULK).map(|_| start(Only { left: 0 }))).await?;
                }
            }
        }
        meter.stop(rows / BULK * BULK).await
    };
    Section::of("start-bulk", format!("W3 {rows} starts in bulk"), "starts/s").measure(args, ways, run).await
}

async fn single(place: &Place, args: &Args, rows: usize) -> Result<Section, Fault> {
    let ways = vec![
        Way::bare(format!("bare SQL, {CLIENTS} connections"), Who::Bare),
        Way::beside(0, format!("start, {CLIENTS} clients"), Who::Client),
    ];
    let run = async |who: &Who| {
        let bench = place.database().await?;
        let client = bench.client_of(16).await?;
        let meter = Meter::start(&bench).await?;
        match who {
            Who::Bare => bare::singly(&bench.pool, rows, CLIENTS).await?,
            Who::Client => {
                let one = async |_| -> Result<(), Fault> {
                    for _ in 0..rows / CLIENTS {
                        client.start(start(Only { left: 0 })).await?;
                    }
                    Ok(())
                };
                try_join_all((0..CLIENTS).map(one)).await?;
            }
        }
        meter.stop(rows / CLIENTS * CLIENTS).await
    };
    Section::of("start-single", format!("W3 {rows} single starts"), "starts/s").measure(args, ways, run).await
}
