use std::path::PathBuf;

use clap::Parser;

/// Measures the engine beside bare SQL doing the same row changes, on the same server, in the same run.
#[derive(Debug, Parser)]
pub struct Args {
    /// Instances to drain; four times as many in the large drain.
    #[arg(long, default_value_t = 50_000)]
    pub drain: usize,
    /// Instances of five steps.
    #[arg(long, default_value_t = 5_000)]
    pub chain: usize,
    /// Single starts and signals on an idle system.
    #[arg(long, default_value_t = 300)]
    pub latency: usize,
    /// Parked instances to wake.
    #[arg(long, default_value_t = 2_000)]
    pub signals: usize,
    /// Parents of a hundred children.
    #[arg(long, default_value_t = 200)]
    pub parents: usize,
    /// How often each is measured; the median counts.
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// Steps that execute at once.
    #[arg(long, default_value_t = 2_000)]
    pub steps: usize,
    /// Rows of a bare batch.
    #[arg(long, default_value_t = 500)]
    pub batch: usize,
    /// Says after each run which statements took the server longest.
    #[arg(long)]
    pub profile: bool,
    /// Only the ways whose name holds this: without their limit they have no ratio.
    #[arg(long, default_value = "")]
    pub way: String,
    /// Writes a plot of each workload into this directory.
    #[arg(long)]
    pub plots: Option<PathBuf>,
    /// Only these: drain, chain, start, latency, signals, families, limits, state, bare, sqlite; long, which takes a quarter of an
    /// hour and is never among all.
    pub only: Vec<String>,
}

impl Args {
    /// What was asked for: all but the long one, unless it is named.
    pub fn wanted(&self, all: &[&'static str]) -> Vec<String> {
        let is_all = self.only.is_empty() || self.only.iter().any(|name| name == "all");
        let named = self.only.iter().filter(|name| *name != "all" && !(is_all && all.contains(&name.as_str())));
        let all = all.iter().filter(|_| is_all).map(|name| (*name).to_owned());
        all.chain(named.cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(only: &[&str]) -> Vec<String> {
        Args::parse_from(["bench"].iter().chain(only)).wanted(&["drain", "chain"])
    }

    #[test]
    fn all_is_everything_but_the_long_one_unless_it_is_named() {
        assert_eq!(wanted(&[]), ["drain", "chain"]);
        assert_eq!(wanted(&["all"]), ["drain", "chain"]);
        assert_eq!(wanted(&["chain", "--rounds", "5"]), ["chain"]);
        assert_eq!(wanted(&["all", "chain", "long"]), ["drain", "chain", "long"]);
    }
}
