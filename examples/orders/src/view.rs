//! An order as the service shows it.

use gen_durable::{Client, HistoryEntry, InstanceId, Snapshot, Status, Target};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    fault::Fault,
    shop::{Row, Shop},
};

/// What the shop knows of it, where its instance stands, and what became of each run.
#[derive(Debug, Serialize)]
pub struct View {
    #[serde(flatten)]
    row: Row,
    progress: Option<Progress>,
    timeline: Vec<Run>,
}

#[derive(Debug, Serialize)]
struct Progress {
    status: Status,
    step: String,
    /// The step's data.
    data: Box<RawValue>,
    /// What it waits for, and until when.
    waits_for: Vec<String>,
    until: Option<Timestamp>,
    error: Option<String>,
    result: Option<Box<RawValue>>,
}

/// One run of a step. Who ran it is nobody's business out there.
#[derive(Debug, Serialize)]
struct Run {
    from: String,
    to: Option<String>,
    outcome: String,
    attempt: u32,
    started_at: Timestamp,
    committed_at: Timestamp,
    error: Option<String>,
}

impl View {
    pub async fn of(client: &Client, shop: &Shop, order: i64) -> Result<Option<Self>, Fault> {
        let Some(row) = shop.order(order).await? else { return Ok(None) };
        let id = InstanceId::new(row.instance);
        let progress = match client.show(&Target::Id(id)).await {
            Ok(snapshot) => Some(snapshot.into()),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error.into()),
        };
        let timeline = client.history(id).await?.into_iter().map(Run::from).collect();
        Ok(Some(Self { row, progress, timeline }))
    }
}

impl From<Snapshot> for Progress {
    fn from(snapshot: Snapshot) -> Self {
        let Snapshot { status, step, state, awaits, await_deadline, last_error, result, .. } = snapshot;
        Self { status, step, data: state, waits_for: awaits, until: await_deadline, error: last_error, result }
    }
}

impl From<HistoryEntry> for Run {
    fn from(entry: HistoryEntry) -> Self {
        let HistoryEntry { from, to, outcome, attempt, started_at, committed_at, error, .. } = entry;
        Self { from, to, outcome, attempt, started_at, committed_at, error }
    }
}
