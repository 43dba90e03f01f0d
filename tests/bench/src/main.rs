//! Measures the engine beside its limit: bare SQL doing the same row changes, on the same server, in the same run.
//! Machines are noisy, so only the ratios travel.

mod args;
mod bare;
mod machines;
mod meter;
mod place;
mod report;
mod sqlite;
mod workloads;

use args::Args;
use clap::Parser;
use place::Place;
use report::Section;

/// Whatever went wrong: a bench only says so.
type Fault = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn,sqlx=error".into());
    tracing_subscriber::fmt().with_env_filter(filter).init();
    let args = Args::parse();
    let all: Vec<&'static str> = workloads::NAMES.into_iter().chain(["sqlite"]).collect();
    let wanted = args.wanted(&all);
    let sections = measure(&wanted, &args).await?;
    if wanted.len() > 1 {
        println!("\nall of it:");
        report::print(&sections);
    }
    Ok(())
}

async fn measure(wanted: &[String], args: &Args) -> Result<Vec<Section>, Fault> {
    let (mut place, mut sections) = (None, vec![]);
    for name in wanted {
        let measured = if name == "sqlite" {
            sqlite::measure(args).await?
        } else {
            let place = match &mut place {
                Some(place) => place,
                none => none.insert(started(args)?),
            };
            workloads::measure(name, place, args).await?
        };
        // At once: a run that is broken off keeps what it has.
        if let Some(directory) = &args.plots {
            measured.iter().try_for_each(|section| report::write(section, directory))?;
        }
        sections.extend(measured);
    }
    Ok(sections)
}

/// Only what needs a server starts one.
fn started(args: &Args) -> Result<Place, Fault> {
    let place = Place::new(args.profile)?;
    println!(
        "PostgreSQL {}, fsync on; medians of {} rounds, alternating with their limit; ratios of each round's pair; each \
         statement is a round trip",
        place.major(),
        args.rounds
    );
    Ok(place)
}
