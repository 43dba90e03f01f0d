//! An instance's story, as a failed test shows it.

use std::fmt::{self, Write};

use jiff::{SignedDuration, Timestamp};

use crate::model::{HistoryEntry, Snapshot, Status};

/// What it is, where it stands, and what its runs came to; times count from its start.
pub(super) fn timeline(snapshot: &Snapshot, history: &[HistoryEntry], now: Timestamp) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = write(&mut text, snapshot, history, now);
    text
}

fn write(text: &mut String, snapshot: &Snapshot, history: &[HistoryEntry], now: Timestamp) -> fmt::Result {
    let Snapshot { id, machine, step, status, state, inserted_at, .. } = snapshot;
    let after = |at: Timestamp| span(at.duration_since(*inserted_at));
    writeln!(text, "{machine} {id}, {status} at {step} {state}")?;
    for HistoryEntry { from, to, outcome, attempt, committed_at, error, .. } in history {
        write!(text, "  +{}  {from}", after(*committed_at))?;
        if *attempt > 0 {
            write!(text, " (attempt {attempt})")?;
        }
        write!(text, ": {outcome}")?;
        to.as_ref().map_or(Ok(()), |to| write!(text, " {to}"))?;
        error.as_ref().map_or(Ok(()), |error| write!(text, ", {error}"))?;
        text.push('\n');
    }
    write!(text, "  +{}  now: {}", after(now), stands(snapshot, after))
}

fn stands(snapshot: &Snapshot, after: impl Fn(Timestamp) -> String) -> String {
    let until = |at: Option<Timestamp>| at.map_or(String::new(), |at| format!(", until +{}", after(at)));
    match snapshot.status {
        Status::Runnable => format!("due at +{}", after(snapshot.eligible_at)),
        Status::Executing => "executing".into(),
        Status::AwaitingSignal => {
            format!("waits for {}{}", snapshot.awaits.join(", "), until(snapshot.await_deadline))
        }
        Status::AwaitingChildren => format!("waits for its children{}", until(snapshot.await_deadline)),
        Status::Done => format!("done with {}", snapshot.result.as_ref().map_or("null", |result| result.get())),
        Status::Failed => format!("failed: {}", snapshot.last_error.as_deref().unwrap_or_default()),
    }
}

/// `1h 30m`, to the microsecond.
fn span(duration: SignedDuration) -> String {
    format!("{duration:#}")
}
