//! What the verbs print: for a person, or as JSON.

use std::io::Write;

use jiff::Timestamp;

use crate::{
    machine::{ChildCounts, MachineInfo},
    model::{HistoryEntry, Reason, Snapshot, Status},
    store::LiveWorker,
};

/// Writes a line; a reader that went away (`| head`) ends the program in silence.
pub(super) fn line(text: impl std::fmt::Display) {
    if writeln!(std::io::stdout().lock(), "{text}").is_err() {
        std::process::exit(0);
    }
}

pub(super) fn json(value: &impl serde::Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(text),
        Err(error) => line(format!("{{\"error\":{:?}}}", error.to_string())),
    }
}

/// Columns as wide as their widest cell.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) {
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([head[at].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let print = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        line(padded.collect::<Vec<_>>().join("  ").trim_end());
    };
    print(head.to_vec());
    rows.iter().for_each(|row| print(row.iter().map(String::as_str).collect()));
}

pub(super) fn machines(machines: &[&'static MachineInfo]) {
    let row = |m: &&'static MachineInfo| {
        let steps: Vec<&str> = m.steps.iter().map(|s| s.name).collect();
        vec![m.name.into(), m.version.to_string(), m.queue.into(), m.rust_path.into(), steps.join(" ")]
    };
    let rows: Vec<_> = machines.iter().map(row).collect();
    table(&["machine", "version", "queue", "in the code", "steps"], &rows);
}

pub(super) fn list(instances: &[Snapshot]) {
    let row = |s: &Snapshot| {
        let key = s.key.clone().unwrap_or_default();
        let age = age(s.updated_at);
        vec![s.id.to_string(), s.machine.clone(), s.step.clone(), s.status.to_string(), key, s.attempt.to_string(), age]
    };
    let rows: Vec<_> = instances.iter().map(row).collect();
    table(&["id", "machine", "step", "status", "key", "attempt", "written"], &rows);
}

pub(super) fn workers(workers: &[LiveWorker]) {
    let row = |w: &LiveWorker| {
        let (started, seen) = (age(w.started_at), age(w.seen_at));
        vec![w.name.clone(), w.queues.join(" "), w.machines.to_string(), started, seen]
    };
    let rows: Vec<_> = workers.iter().map(row).collect();
    table(&["name", "queues", "machines", "started", "seen"], &rows);
}

/// With the children that it waits for, and why it is not running.
pub(super) fn instance(s: &Snapshot, children: Option<ChildCounts>, why: &[Reason]) {
    let say = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            line(format!("{name:10} {value}"));
        }
    };
    let text = |json: &serde_json::value::RawValue| json.get().to_owned();
    say("instance", Some(format!("{} of {} version {}", s.id, s.machine, s.version)));
    say("key", s.key.clone());
    say("status", Some(format!("{} at {}", s.status, s.step)));
    // What is running or ended says so in its status.
    let why = why.iter().filter(|_| !s.status.is_ended() && s.status != Status::Executing);
    why.for_each(|reason| say("why", Some(reason.to_string())));
    say("waits for", (!s.awaits.is_empty() && !s.status.is_ended()).then(|| s.awaits.join(", ")));
    let counts = |c: ChildCounts| format!("{} pending, {} done, {} failed", c.pending(), c.done, c.failed);
    say("children", children.map(counts));
    say("until", s.await_deadline.filter(|_| !s.status.is_ended()).map(|t| t.to_string()));
    say("deadline", s.deadline.map(|t| t.to_string()));
    say("queue", Some(format!("{}, priority {}", s.queue, s.priority)));
    say("attempt", Some(format!("{}, crashes {}, transitions {}", s.attempt, s.crashes, s.transitions)));
    say("due", (!s.status.is_ended()).then(|| s.due_at.unwrap_or(s.eligible_at).to_string()));
    say("claimed by", s.lease_expires_at.and(s.worker.clone()));
    say("until", s.lease_expires_at.map(|t| t.to_string()));
    say("state", Some(text(&s.state)));
    say("carry", s.carry.as_deref().map(text));
    say("result", s.result.as_deref().map(text));
    say("error", s.last_error.clone());
    say("started", Some(s.inserted_at.to_string()));
    say("written", Some(format!("{} ({})", s.updated_at, age(s.updated_at))));
}

/// What became of each run: when it was durable, how long it had waited before and how long it ran.
pub(super) fn timeline(started: Timestamp, history: &[HistoryEntry]) {
    if history.is_empty() {
        return;
    }
    line("");
    let mut before = started;
    let row = |h: &HistoryEntry| {
        let waited = span(before, h.started_at);
        before = h.committed_at;
        let what = h.to.as_ref().map_or_else(|| h.outcome.clone(), |to| format!("{} {to}", h.outcome));
        let ran = span(h.started_at, h.committed_at);
        let error = h.error.clone().unwrap_or_default();
        vec![h.committed_at.to_string(), h.from.clone(), what, h.attempt.to_string(), waited, ran, error]
    };
    let rows: Vec<_> = history.iter().map(row).collect();
    table(&["at", "step", "outcome", "attempt", "waited", "ran", "error"], &rows);
}

fn span(from: Timestamp, to: Timestamp) -> String {
    let ms = to.duration_since(from).as_millis().max(0);
    match ms {
        0..10_000 => format!("{ms} ms"),
        10_000..120_000 => format!("{} s", ms / 1_000),
        120_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}

fn age(at: Timestamp) -> String {
    let seconds = Timestamp::now().duration_since(at).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}
