//! Reading what stands.

use super::Client;
use crate::{
    Error,
    machine::{ChildCounts, Machine},
    model::{HistoryEntry, InstanceId, Invalid, Json, Reason, Snapshot, Status, Target, reasons},
    store::{Filter, LiveWorker},
};

/// Lines of history read at once.
const HISTORY_PAGE: u32 = 1_000;

impl Client {
    /// An instance as its enum: its step, with its data. Rows of a version that `M` takes over are converted.
    ///
    /// # Errors
    /// `is_not_found`; when it is of another machine or its data does not decode; or the store's.
    pub async fn get<M: Machine>(&self, id: InstanceId) -> Result<M, Error> {
        self.read(&Target::Id(id)).await
    }

    /// An instance as it stands.
    ///
    /// # Errors
    /// `is_not_found`; a key that no instance can have; or the store's.
    pub async fn show(&self, target: &Target) -> Result<Snapshot, Error> {
        target.check()?;
        self.0.store.show(target).await?.ok_or_else(|| Error::not_found(named(target)))
    }

    /// Why an instance is not running: every reason that holds, the most telling one first. One that is due and kept by nothing
    /// says so.
    ///
    /// ```no_run
    /// # use gen_durable_runtime::{client::Client, model::{InstanceId, Target}};
    /// # async fn run(client: Client, id: InstanceId) -> Result<(), Box<dyn std::error::Error>> {
    /// for reason in client.why(&Target::Id(id)).await? {
    ///     println!("{reason}"); // waits for key order_lock:7, held by instance 12
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `is_not_found`, or the store's.
    pub async fn why(&self, target: &Target) -> Result<Vec<Reason>, Error> {
        self.why_of(&self.show(target).await?).await
    }

    pub(crate) async fn why_of(&self, shown: &Snapshot) -> Result<Vec<Reason>, Error> {
        let gone = || Error::not_found(format!("instance {}", shown.id));
        let around = self.0.store.surroundings(shown.id).await?.ok_or_else(gone)?;
        let children = match shown.status {
            Status::AwaitingChildren => self.children(shown.id).counts().await?,
            Status::Runnable | Status::Executing | Status::AwaitingSignal | Status::Done | Status::Failed => {
                ChildCounts::default()
            }
        };
        Ok(reasons(shown, &around, (children.started, children.pending())))
    }

    /// The workers that live, by name: whoever was seen within the last minute.
    ///
    /// # Errors
    /// The store's.
    pub async fn workers(&self) -> Result<Vec<LiveWorker>, Error> {
        self.0.store.workers().await
    }

    /// What became of the runs of an instance, oldest first. Lines are kept for `Worker::history`, 30 days by
    /// default; a machine with `history = "off"` leaves none.
    ///
    /// # Errors
    /// The store's.
    pub async fn history(&self, id: InstanceId) -> Result<Vec<HistoryEntry>, Error> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = self.history_after(id, after, HISTORY_PAGE).await?;
            let is_last = page.len() < HISTORY_PAGE as usize;
            after = page.last().map_or(after, |line| line.id);
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// A page of it: at most `limit` lines after this one, by its [`HistoryEntry::id`]; 0 begins. Lines that are forgotten
    /// between two pages shift nothing, and a page costs the same wherever it stands.
    ///
    /// ```no_run
    /// # use gen_durable_runtime::{client::Client, model::InstanceId};
    /// # async fn run(client: Client, id: InstanceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut line = 0;
    /// while let page = client.history_after(id, line, 100).await? && let Some(last) = page.last() {
    ///     page.iter().for_each(|run| println!("{} {}", run.committed_at, run.outcome));
    ///     line = last.id;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The store's.
    pub async fn history_after(&self, id: InstanceId, line: i64, limit: u32) -> Result<Vec<HistoryEntry>, Error> {
        self.0.store.history(id, line, limit).await
    }

    /// A page of instances, newest first; see [`Filter::before`] for the next one.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Snapshot>, Error> {
        self.0.store.list(&filter).await
    }

    pub(super) async fn read<M: Machine>(&self, target: &Target) -> Result<M, Error> {
        let snapshot = self.show(target).await?;
        is_of::<M>(&snapshot.machine)?;
        let state = Json::stored(snapshot.state.get());
        let load = M::load_version(snapshot.version, &snapshot.step, &state);
        load.map_err(|invalid: Invalid| invalid.into())
    }
}

/// Never the key: it may hold what must not be logged.
pub(super) fn named(target: &Target) -> String {
    match target {
        Target::Id(id) => format!("instance {id}"),
        Target::Key(_) => "an instance with this business key".into(),
    }
}

pub(super) fn is_of<M: Machine>(machine: &str) -> Result<(), Error> {
    let info = M::INFO;
    if info.is_named(machine) {
        return Ok(());
    }
    Err(Error::wrong_machine(format!("the instance is of machine `{machine}`, not of `{}`", info.name)))
}
