//! The verb that moves everything to another database.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use clap::Args;

use super::{args::Global, print};
use crate::store::{
    SchemaName,
    copy::{self, Copied, Progress},
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// The database that is read; nothing in it changes.
    #[arg(long, value_name = "URL")]
    from: String,
    /// The database that is filled: made if it is not there, and empty.
    #[arg(long, value_name = "URL")]
    to: String,
}

/// How often a person sees that it goes on.
const BEAT: Duration = Duration::from_secs(1);

pub(super) async fn run(args: CopyArgs, global: &Global) -> Result<(), Fault> {
    if global.database.is_some() {
        return Err("copy works on --from and --to: leave --database out".into());
    }
    let schema = SchemaName::new(&global.schema)?;
    let [from, to] = copy::sides(&args.from, &args.to, &schema, global.transaction_pooler);
    let mut counter = Counter::new();
    let copied = copy::copy(&from, &to, &mut |at| counter.show(at)).await;
    counter.clear();
    report(&copied?, global.json);
    Ok(())
}

/// The rows so far, on one line of a terminal.
struct Counter {
    is_shown: bool,
    last: Instant,
}

impl Counter {
    fn new() -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), last: Instant::now() }
    }

    fn show(&mut self, at: Progress) {
        if self.is_shown && self.last.elapsed() >= BEAT {
            self.last = Instant::now();
            eprint!("\r{} of {} rows", at.rows, at.total);
            let _ = std::io::stderr().flush();
        }
    }

    fn clear(&self) {
        if self.is_shown {
            // Back to the start of the line, and away with it.
            eprint!("\r\x1b[K");
        }
    }
}

fn report(copied: &[Copied], json: bool) {
    if json {
        for Copied { table, source, target } in copied {
            print::json(&serde_json::json!({"table": table, "from": source, "to": target}));
        }
        return;
    }
    let row = |c: &Copied| vec![c.table.to_owned(), c.source.to_string(), c.target.to_string()];
    print::table(&["table", "rows from", "rows to"], &copied.iter().map(row).collect::<Vec<_>>());
}
