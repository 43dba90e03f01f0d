use std::sync::Arc;

use jiff::Timestamp;

use super::{StepOutcome, children::Given};
use crate::{
    machine::{Awaits, Cancel, ContextParts, Machine, ServedBy, Signal, Step, StepContext, registry::Run},
    model::{InstanceId, Invalid, ReceivedSignal, Wake},
};

/// One step, run alone: without a store, with the data, the attempt, the signals and the children that the test gives.
///
/// A panic of the handler is the test's.
#[must_use = "a step runs with `.run(handler)`"]
pub struct StepRun<S: Step> {
    step: S,
    carry: Option<<S::Machine as Machine>::Carry>,
    context: ContextParts,
    wake: Wake,
    children: Given,
}

impl<S: Step> StepRun<S> {
    /// The first run of this step, of instance 1.
    pub fn of(step: S) -> Self {
        let (id, database_now, cancel) = (InstanceId::new(1), Timestamp::now(), Cancel::new());
        let context = ContextParts { id, attempt: 0, transitions: 0, database_now, cancel };
        Self { step, carry: None, context, wake: Wake::Ready, children: Given::default() }
    }

    /// Runs of this visit before it. Default: 0.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.context.attempt = attempt;
        self
    }

    /// The instance.
    pub fn id(mut self, id: InstanceId) -> Self {
        self.context.id = id;
        self
    }

    /// The time that `cx.now()` tells, and that stands still. Default: this computer's.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.context.database_now = now;
        self
    }

    /// What all steps share. Default: that of its type, if it has one.
    pub fn carry(mut self, carry: <S::Machine as Machine>::Carry) -> Self {
        self.carry = Some(carry);
        self
    }

    /// A signal that has come, after those given before. A step that waits and is given none has timed out.
    ///
    /// # Panics
    /// When it cannot be stored.
    #[track_caller]
    pub fn signal<G, SLOT>(mut self, signal: G) -> Self
    where
        S::Machine: Awaits<G, SLOT>,
        G: Signal,
    {
        let mut signals = match self.wake {
            Wake::Signals(signals) => signals,
            Wake::Ready | Wake::Unsatisfied => vec![],
        };
        let payload = stored(signal.payload());
        let id = i64::try_from(signals.len()).map_or(i64::MAX, |before| before + 1);
        signals.push(ReceivedSignal { id, name: G::NAME.to_owned(), payload });
        self.wake = Wake::Signals(signals);
        self
    }

    /// A child of its fan-out that ended, after those given before.
    ///
    /// # Panics
    /// When its result cannot be stored.
    #[track_caller]
    pub fn child<C: Machine>(mut self, ended: Result<C::Output, &str>) -> Self {
        let ended = ended.map(|result| stored(C::store_output(&result))).map_err(str::to_owned);
        self.children.ended::<C>(ended);
        self
    }

    /// So many children that have not ended: its wait timed out, or its quorum is reached.
    pub fn open_children<C: Machine>(mut self, children: u64) -> Self {
        self.children.open::<C>(children);
        self
    }

    /// Runs it.
    ///
    /// # Panics
    /// When its carry is needed and was not given, or cannot be stored; and when the handler does.
    pub async fn run<E>(self, handler: E) -> StepOutcome<S>
    where
        S::Machine: ServedBy<E>,
    {
        self.run_shared(Arc::new(handler)).await
    }

    /// As [`StepRun::run`], with a handler that the test looks into as well.
    ///
    /// # Panics
    /// As there.
    pub async fn run_shared<E>(self, handler: Arc<E>) -> StepOutcome<S>
    where
        S::Machine: ServedBy<E>,
    {
        let carry = self.carry.or_else(<S::Machine as Machine>::default_carry);
        let Some(carry) = carry else { panic!("{}: give the run its `.carry(..)`", S::Machine::NAME) };
        let waits = S::Machine::INFO.step(S::NAME).is_some_and(|step| step.awaits.is_some());
        let wake = if waits && self.wake == Wake::Ready { Wake::Signals(vec![]) } else { self.wake };
        let context = StepContext::new(self.context).standing().with_children(Arc::new(self.children));
        let (state, carry) = (stored(self.step.encode()), stored(S::Machine::store_carry(&carry)));
        let run = Run { step: S::NAME, state, carry, wake, context };
        StepOutcome::new(<S::Machine as ServedBy<E>>::run(handler, run).await)
    }
}

#[track_caller]
fn stored<T>(json: Result<T, Invalid>) -> T {
    match json {
        Ok(json) => json,
        Err(invalid) => panic!("{invalid}"),
    }
}

impl<S: Step> std::fmt::Debug for StepRun<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepRun").field("of", &S::NAME).field("context", &self.context).finish_non_exhaustive()
    }
}
