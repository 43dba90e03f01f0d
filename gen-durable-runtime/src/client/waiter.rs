//! One wait: what it is for, and when it is looked at next.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::{
    Error, StoreClass,
    machine::MachineInfo,
    model::{InstanceId, Status},
    store::{Became, News, Standing},
};

/// How soon the second look is taken.
pub(super) const SOON: Duration = Duration::from_millis(5);

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The end.
    End,
    /// This step, by its stored name.
    Step(&'static str),
    /// That it waits for signals or children.
    Park,
}

/// How the instance stood when its wait was over, by whatever ended it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) standing: Standing,
    /// It stands as it was waited for, or was told to have stood so.
    pub(super) met: bool,
}

pub(super) type Tell = oneshot::Sender<Result<Option<Found>, Error>>;

#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) id: InstanceId,
    pub(super) machine: &'static MachineInfo,
    pub(super) goal: Goal,
    pub(super) until: Option<Instant>,
    pub(super) next: Instant,
    pub(super) every: Duration,
    pub(super) told: bool,
    pub(super) tell: Tell,
}

impl Goal {
    fn is_met(self, machine: &MachineInfo, standing: &Standing) -> bool {
        match self {
            Self::End => standing.status.is_ended(),
            Self::Step(name) => machine.step(&standing.step).is_some_and(|step| step.name == name),
            Self::Park => match standing.status {
                Status::AwaitingSignal | Status::AwaitingChildren => true,
                Status::Runnable | Status::Executing | Status::Done | Status::Failed => false,
            },
        }
    }

    /// What was told may be over by the time of a look: it counts.
    fn is_told(self, became: &Became) -> bool {
        match (self, became) {
            (Self::Park, Became::Parked(_)) => true,
            (Self::Step(name), Became::Parked(step) | Became::At(step)) => name == step,
            // The look finds an end; or none any more, when it was taken back.
            (Self::End, _) | (Self::Park, Became::Ended | Became::At(_)) | (Self::Step(_), Became::Ended) => false,
        }
    }
}

impl Waiter {
    /// Looks at once when this is of its instance.
    pub(super) fn hear(&mut self, news: &News) {
        self.told |= self.goal.is_told(&news.became);
        self.next = Instant::now();
    }

    /// Answers, or waits on; looks are at most `apart`.
    pub(super) fn judge(self, standing: Option<&Standing>, apart: Duration) -> Option<Self> {
        let Some(standing) = standing else {
            let _ = self.tell.send(Ok(None));
            return None;
        };
        let met = self.told || self.goal.is_met(self.machine, standing);
        // Of another machine it never meets the goal: who waits says so.
        let is_over = met || standing.status.is_ended() || !self.machine.is_named(&standing.machine);
        if is_over || self.is_late() {
            let _ = self.tell.send(Ok(Some(Found { standing: standing.clone(), met })));
            return None;
        }
        Some(self.later(apart))
    }

    /// The database does not answer: goes on, unless its time is up.
    pub(super) fn unanswered(self, apart: Duration) -> Option<Self> {
        if self.is_late() {
            let _ = self.tell.send(Err(unanswered()));
            return None;
        }
        Some(self.later(apart))
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    fn later(mut self, apart: Duration) -> Self {
        self.every = (self.every * 2).min(apart);
        let next = Instant::now() + self.every;
        self.next = self.until.map_or(next, |until| next.min(until.max(Instant::now() + SOON)));
        self
    }
}

pub(super) fn unanswered() -> Error {
    Error::store("waiting", StoreClass::Transient, "the database does not answer")
}
