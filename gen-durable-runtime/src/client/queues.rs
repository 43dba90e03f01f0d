//! Queues as they stand; pausing them over the whole system.

use jiff::Timestamp;
use serde::Serialize;

use super::Client;
use crate::{
    Error,
    machine::registry,
    model::limits,
    store::{QueueStanding, Said},
};

/// How the instances of a queue stand at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QueueSnapshot {
    /// Its name.
    pub name: String,
    /// Due: a worker with a free place takes them.
    pub due: u64,
    /// Since when the oldest of them is due.
    pub oldest_due: Option<Timestamp>,
    /// Executing.
    pub running: u64,
    /// Waiting for signals or children; among the newest 50,000 instances.
    pub parked: u64,
    /// Due, and waiting for a rate limit, a gate or a concurrency key.
    pub waiting_for_limit: u64,
    /// Due, and waiting for a worker that knows their machine, version and step.
    pub waiting_for_code: u64,
    /// Due later: delayed, or to be tried again.
    pub scheduled: u64,
    /// Since when it is paused.
    pub paused: Option<Timestamp>,
    /// Some counts have come to their end, 10,000 due or scheduled of a priority or 50,000 of the others: there may be more.
    pub at_least: bool,
}

impl Client {
    /// How every queue stands that has instances, is paused, or is named by a machine of this program; by name.
    ///
    /// One statement. It counts due and scheduled rows up to 10,000 a priority by their index; rows that are set aside, and
    /// the newest instances for parked ones, which no index has, up to 50,000 each: a tenth of a second at worst, whatever the
    /// size of the table.
    ///
    /// # Errors
    /// The store's.
    pub async fn queues(&self) -> Result<Vec<QueueSnapshot>, Error> {
        let mut all = self.0.store.queues().await?;
        for queue in named_queues() {
            all.entry(queue.to_owned()).or_default();
        }
        Ok(all.into_iter().map(snapshot).collect())
    }

    /// Pauses a queue, in all processes and until [`Client::resume_queue`], restarts included: whether it was not paused. Workers
    /// hear of it at once, or look with their poll, and take nothing of it any more; a step that runs ends, and its
    /// instance goes no further in place.
    ///
    /// Everything else goes on: instances are started in it, signals are kept, waits and deadlines pass, schedules fire, and all
    /// that is due stands in line until the queue goes on. That includes cancels: whoever was asked to end does so, by its
    /// `on_cancel` if it has one, as soon as the queue goes on; a run that is under way is told at once.
    ///
    /// ```no_run
    /// # async fn run(client: gen_durable_runtime::client::Client) -> Result<(), gen_durable_runtime::Error> {
    /// client.pause_queue("mail").await?;
    /// // … the mail server is repaired …
    /// client.resume_queue("mail").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A name that no queue can have; or the store's.
    pub async fn pause_queue(&self, queue: &str) -> Result<bool, Error> {
        self.pause_or_resume(queue, true).await
    }

    /// Lets a paused queue go on, at once: whether it was paused.
    ///
    /// # Errors
    /// As [`Client::pause_queue`].
    pub async fn resume_queue(&self, queue: &str) -> Result<bool, Error> {
        self.pause_or_resume(queue, false).await
    }

    async fn pause_or_resume(&self, queue: &str, pause: bool) -> Result<bool, Error> {
        limits::name("queue", queue)?;
        let changed = self.0.store.pause_queue(queue, pause).await?;
        // Also where nothing changed: someone else's word may have been lost.
        self.0.notifier.wake(Said::queues());
        Ok(changed)
    }
}

/// The queues that machines linked into this program name.
fn named_queues() -> impl Iterator<Item = &'static str> {
    registry::machines()
        .map(|machine| (machine.info)())
        .flat_map(|info| std::iter::once(info.queue).chain(info.steps.iter().filter_map(|step| step.queue)))
}

fn snapshot((name, standing): (String, QueueStanding)) -> QueueSnapshot {
    let QueueStanding { due, oldest, running, parked, limited, otherwise_blocked, later, paused, more } = standing;
    QueueSnapshot {
        name,
        due,
        oldest_due: oldest,
        running,
        parked,
        waiting_for_limit: limited,
        waiting_for_code: otherwise_blocked,
        scheduled: later,
        paused,
        at_least: more,
    }
}
