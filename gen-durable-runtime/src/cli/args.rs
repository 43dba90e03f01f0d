//! What may be said on the command line.

use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::model::Status;

/// Durable state machines: works every machine linked into this binary.
#[derive(Debug, Parser)]
#[command(disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    /// What to do; `run` if nothing is said.
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Global {
    /// The database, sqlite://file.db or postgres://user@host/database; default: $DATABASE_URL, else
    /// sqlite://gen-durable.db.
    #[arg(long, global = true, value_name = "URL")]
    pub(super) database: Option<String>,
    /// The schema of the tables, on Postgres.
    #[arg(long, global = true, value_name = "NAME", default_value = "public")]
    pub(super) schema: String,
    /// The database is reached through a transaction pooler such as pgbouncer.
    #[arg(long, global = true)]
    pub(super) transaction_pooler: bool,
    /// How to log: to a person, or to a machine.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub(super) log: LogFormat,
    /// Print data as JSON, one object a line.
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Migrate, then work until Ctrl-C; a second Ctrl-C does not wait for running steps.
    Run(RunArgs),
    /// Bring the schema to the latest version, or to another.
    Migrate {
        /// A version of the Elixir engine's schema, without our part; 0 takes everything down.
        #[arg(long, value_name = "N")]
        to: Option<u32>,
        /// Allow the rewrite of a table above 1,000,000 rows, which stops all workers meanwhile.
        #[arg(long)]
        allow_rewrite: bool,
    },
    /// Move everything to another database, ids kept, while no worker runs; the schema is that of a Postgres side.
    Copy(super::copy::CopyArgs),
    /// List the machines linked into this binary.
    Machines,
    /// Print the graph of a machine, or of all.
    Graph {
        /// Its stored name.
        machine: Option<String>,
        /// Which language.
        #[arg(long, value_enum, default_value_t = GraphFormat::Mermaid)]
        format: GraphFormat,
    },
    /// Start an instance.
    Start(StartArgs),
    /// Send a signal.
    Signal {
        /// An id, or a business key such as `checkout:42`.
        target: String,
        /// The signal's stored name.
        name: String,
        /// Its payload, a JSON object.
        #[arg(default_value = "{}")]
        payload: String,
        /// A second signal with this key is not delivered.
        #[arg(long, value_name = "KEY")]
        dedup: Option<String>,
    },
    /// Show an instance.
    Show {
        /// An id, or a business key such as `checkout:42`.
        target: String,
    },
    /// List instances, newest first.
    List(ListArgs),
    /// Ask an instance to end, or all that a filter finds.
    Cancel {
        #[command(flatten)]
        which: WhichArgs,
        /// Why; it stands on the instance afterwards.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Start a new instance from a step of another one, which stays as it is: with its carry, queue, priority and free key.
    Restart {
        /// The id of that one, or a business key such as `checkout:42`.
        target: String,
        /// The step's stored name.
        step: String,
        /// The step's data, a JSON object; default: that of the instance, if it stands at this step.
        #[arg(long, value_name = "JSON")]
        state: Option<String>,
    },
    /// List the workers that live, in all processes.
    Workers,
    /// List the schedules, with their next and last slots; or pause, resume, fire or remove one.
    Schedules {
        #[command(subcommand)]
        verb: Option<SchedulesVerb>,
    },
    /// List the limits, with what they allow, who said so, their busiest keys and who waits; or set or reset one.
    Limits {
        #[command(subcommand)]
        verb: Option<LimitsVerb>,
    },
    /// List the queues, with what is due, running, parked, waiting and paused; or pause or resume one.
    Queues {
        #[command(subcommand)]
        verb: Option<QueuesVerb>,
    },
    /// Let a failed instance go on from the step that failed, or all that a filter finds.
    Retry {
        #[command(flatten)]
        which: WhichArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum SchedulesVerb {
    /// Let no slot fire until it is resumed.
    Pause {
        /// As `schedules` lists it.
        name: String,
    },
    /// Let it go on from its next slot.
    Resume {
        /// As `schedules` lists it.
        name: String,
    },
    /// Fire it now; the next slot stays as it is.
    Fire {
        /// As `schedules` lists it.
        name: String,
    },
    /// Remove it; its instances stay.
    Remove {
        /// As `schedules` lists it.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum LimitsVerb {
    /// Say what a limit allows, for all workers and until `reset`; what is not said stays.
    Set(LimitArgs),
    /// Make a limit again what its type says.
    Reset {
        /// As `limits` lists it.
        name: String,
        /// Of two with one name, which.
        #[arg(long, value_enum)]
        kind: Option<LimitSort>,
    },
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("terms").required(true).multiple(true).args(["slots", "allowed", "burst", "shards"]))]
pub(super) struct LimitArgs {
    /// As `limits` lists it.
    pub(super) name: String,
    /// How many execute at once for one key; of a gate.
    #[arg(long, value_name = "N", conflicts_with_all = ["allowed", "burst"])]
    pub(super) slots: Option<u32>,
    /// Tokens that come back each --per; of a rate limit.
    #[arg(long, value_name = "N", requires = "per")]
    pub(super) allowed: Option<u32>,
    /// The time in which they do: 1s, 1m, 1h.
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "allowed")]
    pub(super) per: Option<Duration>,
    /// The size of a key's bucket; of a rate limit.
    #[arg(long, value_name = "N")]
    pub(super) burst: Option<u32>,
    /// Counter rows a key.
    #[arg(long, value_name = "N")]
    pub(super) shards: Option<u16>,
    /// Of two with one name, which.
    #[arg(long, value_enum)]
    pub(super) kind: Option<LimitSort>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LimitSort {
    Rate,
    Gate,
}

#[derive(Debug, Subcommand)]
pub(super) enum QueuesVerb {
    /// Let no worker take anything of it until it is resumed, restarts included; what runs ends its step.
    Pause {
        /// As `queues` lists it.
        name: String,
    },
    /// Let it go on.
    Resume {
        /// As `queues` lists it.
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphFormat {
    Mermaid,
    Dot,
}

#[derive(Debug, Default, Args)]
pub(super) struct RunArgs {
    /// Steps of a queue that execute at once: `--queue checkout=50`. May be given several times.
    #[arg(long, value_name = "NAME=STEPS", value_parser = queue)]
    pub(super) queue: Vec<(String, usize)>,
    /// Steps of all queues together that execute at once; the queues share them by their weights.
    #[arg(long, value_name = "STEPS")]
    pub(super) concurrency: Option<usize>,
    /// A queue's part of --concurrency while others have work: `--weight checkout=3`. May be given several times; default: 1.
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = weight, requires = "concurrency")]
    pub(super) weight: Vec<(String, u32)>,
    /// Serve only the queues named by --queue.
    #[arg(long)]
    pub(super) only: bool,
    /// How long a stop waits for running steps; default: 30s.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) drain: Option<Duration>,
    /// How long a claim stands without renewal; default: 30s.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) lease: Option<Duration>,
    /// How often an idle queue is looked at; default: 1s.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) poll: Option<Duration>,
    /// How long done instances stay whose machine does not say so; default: for good.
    #[arg(long, value_name = "DURATION", value_parser = age)]
    pub(super) keep_done: Option<Duration>,
    /// How long failed and cancelled instances stay whose machine does not say so; default: for good.
    #[arg(long, value_name = "DURATION", value_parser = age)]
    pub(super) keep_failed: Option<Duration>,
    /// Leave the schema as it is.
    #[arg(long)]
    pub(super) no_migrate: bool,
}

#[derive(Debug, Args)]
pub(super) struct StartArgs {
    /// The machine's stored name.
    pub(super) machine: String,
    /// The step's data, a JSON object.
    #[arg(default_value = "{}")]
    pub(super) state: String,
    /// The step, if the machine may begin at several.
    #[arg(long)]
    pub(super) step: Option<String>,
    /// The facts all steps share, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(super) carry: Option<String>,
    /// Begin so much later: 90s, 15m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) delay: Option<Duration>,
    /// A lower number is more urgent.
    #[arg(long, allow_negative_numbers = true)]
    pub(super) priority: Option<i16>,
    /// Instead of the machine's queue.
    #[arg(long)]
    pub(super) queue: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only this machine.
    #[arg(long)]
    pub(super) machine: Option<String>,
    /// Only this status.
    #[arg(long, value_parser = status)]
    pub(super) status: Option<Status>,
    /// Only this queue.
    #[arg(long)]
    pub(super) queue: Option<String>,
    /// Only this step.
    #[arg(long)]
    pub(super) step: Option<String>,
    /// Rows a page.
    #[arg(long, default_value_t = 50)]
    pub(super) limit: u32,
    /// The page below this id.
    #[arg(long, value_name = "ID")]
    pub(super) before: Option<i64>,
}

/// One instance, or those a filter finds.
#[derive(Debug, Args)]
pub(super) struct WhichArgs {
    /// An id, or a business key such as `checkout:42`.
    #[arg(required_unless_present_any = ["machine", "queue", "step"])]
    pub(super) target: Option<String>,
    /// All of this machine.
    #[arg(long, conflicts_with = "target")]
    pub(super) machine: Option<String>,
    /// All in this queue.
    #[arg(long, conflicts_with = "target")]
    pub(super) queue: Option<String>,
    /// All at this step.
    #[arg(long, conflicts_with = "target")]
    pub(super) step: Option<String>,
    /// Only say which.
    #[arg(long)]
    pub(super) dry_run: bool,
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Result<jiff::SignedDuration, _> = text.parse();
    let parsed = parsed.map_err(|_| "expected a duration such as 500ms, 30s, 15m or 2h".to_owned())?;
    Duration::try_from(parsed).map_err(|_| "a duration is not negative".into())
}

/// Days and weeks too.
fn age(text: &str) -> Result<Duration, String> {
    let of = |unit: char, days: u64| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(days * 24 * 3_600);
    match of('d', 1).or_else(|| of('w', 7)) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => duration(text).map_err(|_| "expected a duration such as 30d, 2w or 12h".to_owned()),
    }
}

fn queue(text: &str) -> Result<(String, usize), String> {
    let (name, steps) = text.rsplit_once('=').ok_or("expected NAME=STEPS, such as checkout=50")?;
    let steps = steps.parse().map_err(|_| format!("{steps:?} is no number of steps"))?;
    Ok((name.to_owned(), steps))
}

fn weight(text: &str) -> Result<(String, u32), String> {
    let (name, weight) = text.rsplit_once('=').ok_or("expected NAME=WEIGHT, such as checkout=3")?;
    let weight = weight.parse().map_err(|_| format!("{weight:?} is no weight"))?;
    Ok((name.to_owned(), weight))
}

fn status(text: &str) -> Result<Status, String> {
    Status::from_stored(text).ok_or_else(|| {
        let known: Vec<&str> = Status::ALL.iter().map(|s| s.as_str()).collect();
        format!("expected one of {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn an_age_may_be_of_days() {
        let hours = |text| age(text).map(|age| age.as_secs() / 3_600);
        assert_eq!([hours("30d"), hours("2w"), hours("12h")], [Ok(720), Ok(336), Ok(12)]);
        for refused in ["d", "1.5d", "-1d", "99999999999999999999d", "18446744073709551615w", "soon"] {
            assert!(age(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn spans_and_queues_are_read_as_a_person_writes_them() {
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert!(duration("-1s").is_err() && duration("soon").is_err());
        assert_eq!(queue("a=b=3"), Ok(("a=b".into(), 3)));
        assert!(queue("a").is_err());
    }
}
