//! Measures the engine beside its limit: bare SQL doing the same row changes, on the same server, in the same run.
//! Machines are noisy, so only the ratios travel.

mod bare;
mod chain;
mod drain;
mod latency;
mod machines;
mod place;
mod report;
mod sqlite;

use clap::Parser;

/// Measures the engine beside bare SQL.
#[derive(Debug, Parser)]
struct Args {
    /// Instances to drain.
    #[arg(long, default_value_t = 50_000)]
    drain: usize,
    /// Instances of five steps.
    #[arg(long, default_value_t = 5_000)]
    chain: usize,
    /// Single starts on an idle system.
    #[arg(long, default_value_t = 300)]
    latency: usize,
    /// How often each is measured; the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Steps that execute at once.
    #[arg(long, default_value_t = 2_000)]
    steps: usize,
    /// Rows of a bare batch.
    #[arg(long, default_value_t = 500)]
    batch: usize,
    /// Only these: drain, chain, latency, sqlite.
    only: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn,sqlx=error".into());
    tracing_subscriber::fmt().with_env_filter(filter).init();
    let args = Args::parse();
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|o| o == name);
    if wanted("sqlite") {
        sqlite::measure(&args).await?;
    }
    if args.only == ["sqlite"] {
        return Ok(());
    }
    let place = place::Place::new()?;
    println!(
        "PostgreSQL {}, fsync on; medians of {} rounds, alternating with their limit\n",
        place.major(),
        args.rounds
    );
    if wanted("drain") {
        drain::measure(&place, &args).await?;
    }
    if wanted("chain") {
        chain::measure(&place, &args).await?;
    }
    if wanted("latency") {
        latency::measure(&place, &args).await?;
    }
    Ok(())
}
