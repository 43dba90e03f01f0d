//! What is measured, each beside its limit.

mod bare;
mod chain;
mod drain;
mod families;
mod latency;
mod limits;
mod long;
mod signals;
mod starts;
mod state;

use crate::{
    Args, Fault,
    machines::{Crew, Nothing},
    meter::{Figure, Meter},
    place::{Bench, Place},
    report::Section,
};

/// The names of the workloads on a server, in the order in which they run.
pub const NAMES: [&str; 9] = ["drain", "chain", "start", "latency", "signals", "families", "limits", "state", "bare"];

/// Measures one of them.
///
/// # Errors
/// The database's, and a name that is none.
pub async fn measure(name: &str, place: &Place, args: &Args) -> Result<Vec<Section>, Fault> {
    match name {
        "drain" => drain::measure(place, args).await,
        "chain" => chain::measure(place, args).await,
        "start" => starts::measure(place, args).await,
        "latency" => latency::measure(place, args).await,
        "signals" => signals::measure(place, args).await,
        "families" => families::measure(place, args).await,
        "limits" => limits::measure(place, args).await,
        "state" => state::measure(place, args).await,
        "bare" => bare::measure(place, args).await,
        "long" => long::measure(place, args).await,
        other => Err(format!("there is no `{other}`: {}, sqlite, long, all", NAMES.join(", ")).into()),
    }
}

/// One worker works off what stands, until so many instances have ended; so many things are counted.
async fn work_off(bench: &Bench, crew: Crew, ends: usize, things: usize) -> Result<Figure, Fault> {
    let nothing = Nothing::default();
    let meter = Meter::start(bench).await?;
    let worker = crew.worker(&bench.client, nothing.clone()).await?;
    bench.ended(&nothing, ends).await?;
    let figure = meter.stop(things).await;
    worker.stop().await;
    figure
}
