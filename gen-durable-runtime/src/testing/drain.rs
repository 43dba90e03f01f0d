//! Everything that is due, until nothing is.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fmt,
};

use jiff::Timestamp;

use super::TestKit;
use crate::{
    Error,
    engine::{Inline, Next, Ran},
    model::{InstanceId, Snapshot, Status},
    store::Filter,
};

/// Runs that an error tells of.
const LAST: usize = 8;
/// Rows looked at at once.
const PAGE: u32 = 1_000;

/// Why a drain came to no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrainError {
    /// More runs than the cap allows.
    #[error("{0}")]
    StepCap(Overrun),
    /// Rows are due that nobody serves here.
    #[error(
        "due, and nobody serves them here: {}; give the kit their `.handler(..)`, or `.leave_unserved()`",
        .0.join(", ")
    )]
    Unserved(Vec<String>),
    /// The store's.
    #[error(transparent)]
    Other(#[from] Error),
}

/// A drain that was taken for endless.
#[derive(Debug)]
pub struct Overrun {
    cap: usize,
    /// Who ran most, and how often.
    most: Option<(InstanceId, usize)>,
    last: VecDeque<Ran>,
}

impl Overrun {
    /// The instance that ran most.
    pub fn instance(&self) -> Option<InstanceId> {
        self.most.map(|(id, _)| id)
    }

    /// The last runs, oldest first.
    pub fn last(&self) -> impl Iterator<Item = &Ran> {
        self.last.iter()
    }
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not done after {} steps, the step cap", self.cap)?;
        if let Some((id, runs)) = self.most {
            write!(f, ": instance {id} ran {runs} of them")?;
        }
        f.write_str("; does it go in circles? Otherwise raise `.step_cap(..)`. The last ones:")?;
        self.last.iter().try_for_each(|Ran { id, machine, step, attempt }| {
            write!(f, "\n  {machine} {id} at {step}")?;
            if *attempt > 0 { write!(f, ", attempt {attempt}") } else { Ok(()) }
        })
    }
}

/// The runs of one drain.
pub(super) struct Steps {
    cap: usize,
    pub(super) runs: usize,
    by_instance: HashMap<InstanceId, usize>,
    last: VecDeque<Ran>,
}

impl Steps {
    pub(super) fn new(cap: usize) -> Self {
        Self { cap, runs: 0, by_instance: HashMap::new(), last: VecDeque::new() }
    }

    fn count(&mut self, ran: Ran) {
        self.runs += 1;
        *self.by_instance.entry(ran.id).or_default() += 1;
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        self.last.push_back(ran);
    }

    fn overrun(&mut self) -> DrainError {
        // The first of those that ran as often: the same each time.
        let most = self.by_instance.iter().map(|(id, runs)| (*id, *runs)).max_by_key(|(id, runs)| (*runs, -id.get()));
        DrainError::StepCap(Overrun { cap: self.cap, most, last: std::mem::take(&mut self.last) })
    }
}

impl TestKit {
    /// Until nothing is due; when the next row will be.
    pub(super) async fn drain_within(&self, steps: &mut Steps) -> Result<Option<Timestamp>, DrainError> {
        let mut inline = self.inline.lock().await;
        loop {
            match inline.next().await? {
                Next::Ran(ran) => steps.count(ran),
                Next::Idle(next) if !self.finds_queues(&mut inline).await? => return Ok(next),
                Next::Idle(_) => {}
            }
            if steps.runs > self.step_cap {
                return Err(steps.overrun());
            }
        }
    }

    /// Whether rows are due in queues that were not looked into: those of a start with a queue of its own.
    async fn finds_queues(&self, inline: &mut Inline) -> Result<bool, DrainError> {
        let (mut found, mut unserved) = (false, BTreeSet::new());
        for row in self.due().await? {
            found |= inline.serve_queue(&row.queue);
            if !inline.serves(&row.machine, row.version) {
                unserved.insert(format!("{} {} at {}", row.machine, row.id, row.step));
            }
        }
        if found || unserved.is_empty() || self.leave_due {
            return Ok(found);
        }
        Err(DrainError::Unserved(unserved.into_iter().collect()))
    }

    async fn due(&self) -> Result<Vec<Snapshot>, Error> {
        let (mut due, mut filter) = (Vec::new(), Filter::default().status(Status::Runnable).limit(PAGE));
        loop {
            let page = self.client.list(filter.clone()).await?;
            let last = page.last().map(|row| row.id).filter(|_| page.len() == PAGE as usize);
            due.extend(page.into_iter().filter(|row| row.eligible_at <= self.now()));
            match last {
                Some(id) => filter = filter.before(id),
                None => return Ok(due),
            }
        }
    }
}
