use std::{fmt, marker::PhantomData, time::Duration};

use super::{Machine, StartStep};
use crate::model::{Entry, Invalid, StartSpec};

type Key = Option<(String, bool)>;
type Enter<C> = Box<dyn FnOnce(&C) -> Result<(Entry, Key), Invalid> + Send>;

/// A new instance of `M`, described: hand it to a client, to `fan_out(..).children(..)` or to `.spawn(..)`.
///
/// `C` tells whether its carry was given; see [`Start::carry`].
#[must_use = "a start does nothing until it is handed to a client, to `.children(..)` or to `.spawn(..)`"]
pub struct Start<M: Machine, C = CarryOpen> {
    enter: Enter<M::Carry>,
    carry: Option<M::Carry>,
    delay: Duration,
    queue: Option<String>,
    priority: Option<i16>,
    _carry: PhantomData<C>,
}

/// The carry was not given: its type's default is used.
#[derive(Debug)]
pub enum CarryOpen {}
/// The carry was given.
#[derive(Debug)]
pub enum CarryGiven {}

/// Begins a description of a new instance at `step`.
pub fn start<T: StartStep>(step: T) -> Start<T::Machine> {
    Start {
        enter: Box::new(move |carry| Ok((step.entry(carry)?, step.business_key(carry)))),
        carry: None,
        delay: Duration::ZERO,
        queue: None,
        priority: None,
        _carry: PhantomData,
    }
}

impl<M: Machine, C> Start<M, C> {
    /// The facts that all its steps share. Needed unless their type is `Default`.
    pub fn carry(self, carry: M::Carry) -> Start<M, CarryGiven> {
        let Self { enter, delay, queue, priority, .. } = self;
        Start { enter, carry: Some(carry), delay, queue, priority, _carry: PhantomData }
    }

    /// Begins so much later; at most 100 years.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// A lower number is more urgent. A step's own priority goes before.
    pub fn priority(mut self, priority: i16) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Instead of the machine's queue. A step's own queue goes before.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    fn specify(self, carry: M::Carry) -> Result<StartSpec, Invalid> {
        let (entry, key) = (self.enter)(&carry)?;
        let step = entry.step;
        let (key, key_kept) = key.map_or((None, false), |(key, kept)| (Some(key), kept));
        let spec = StartSpec {
            machine: M::NAME,
            version: M::VERSION,
            entry,
            carry: M::store_carry(&carry)?,
            key,
            key_kept,
            delay: self.delay,
            defaults: (M::INFO.queue, M::INFO.priority),
            deadline: M::INFO.deadline,
            exits: M::INFO.exits_at(step),
            queue: self.queue,
            priority: self.priority,
        };
        spec.check()?;
        Ok(spec)
    }
}

impl<M: Machine> Start<M, CarryGiven> {
    pub(super) fn into_checked_spec(mut self) -> Result<StartSpec, Invalid> {
        let carry = self.carry.take().ok_or_else(|| Invalid::new("carry", "was not given"))?;
        self.specify(carry)
    }
}

/// A start that is complete: its carry was given, or has a default.
pub trait Startable {
    /// What is started.
    type Machine: Machine;

    /// As a client inserts it.
    ///
    /// # Errors
    /// What cannot be stored.
    fn into_spec(self) -> Result<StartSpec, Invalid>;
}

impl<M: Machine> Startable for Start<M, CarryGiven> {
    type Machine = M;
    fn into_spec(self) -> Result<StartSpec, Invalid> {
        self.into_checked_spec()
    }
}

impl<M: Machine<Carry: DefaultCarry>> Startable for Start<M, CarryOpen> {
    type Machine = M;
    fn into_spec(self) -> Result<StartSpec, Invalid> {
        self.specify(M::Carry::default_carry())
    }
}

/// A carry that a start may leave out.
#[diagnostic::on_unimplemented(
    message = "this start needs its carry, a `{Self}`",
    label = "add `.carry({Self} {{ .. }})` to the start",
    note = "or implement `Default` for `{Self}`: then a start may leave it out"
)]
pub trait DefaultCarry {
    #[doc(hidden)]
    fn default_carry() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> DefaultCarry for T {
    fn default_carry() -> Self {
        T::default()
    }
}

/// A carry that a schedule can begin with.
#[diagnostic::on_unimplemented(
    message = "a schedule starts without a carry, and `{Self}` has no default",
    label = "needs `{Self}: Default`",
    note = "implement `Default` for `{Self}`"
)]
pub trait ScheduledCarry {}

#[diagnostic::do_not_recommend]
impl<T: Default> ScheduledCarry for T {}

impl<M: Machine, C> fmt::Debug for Start<M, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delay, queue, priority, .. } = self;
        let mut out = f.debug_struct("Start");
        out.field("machine", &M::NAME).field("delay", delay).field("queue", queue).field("priority", priority);
        out.finish_non_exhaustive()
    }
}
