//! What a step is made of when something else than `goto` leads to it.

use std::fmt;

use jiff::Timestamp;

use super::Step;
use crate::model::FailureKind;

/// A step struct or a machine's enum, and the carry it goes with.
pub trait Carried {
    /// The machine's carry; `()` without one.
    type Carry;
}

/// A step that failed for good: `Failed<Ship>` holds the step's data, `Failed<Checkout>` the enum.
#[non_exhaustive]
pub struct Failed<S: Carried> {
    /// The data it was run with.
    pub step: S,
    /// Facts all steps share, as they were before the run.
    pub carry: S::Carry,
    /// The text of the last error.
    pub error: String,
    /// How it failed.
    pub kind: FailureKind,
    /// How often it was tried.
    pub attempts: u32,
}

/// An instance that was cancelled: `Cancelled<Checkout>`.
#[non_exhaustive]
pub struct Cancelled<M: Carried> {
    /// Where it stood.
    pub step: M,
    /// Facts all steps share.
    pub carry: M::Carry,
}

/// An instance whose deadline passed: `Expired<Checkout>`.
#[non_exhaustive]
pub struct Expired<M: Carried> {
    /// Where it stood.
    pub step: M,
    /// Facts all steps share.
    pub carry: M::Carry,
}

/// An instance that received a signal any step reacts to: `Received<Checkout, Stop>`.
#[non_exhaustive]
pub struct Received<M: Carried, G> {
    /// Where it stood.
    pub step: M,
    /// What came.
    pub signal: G,
    /// Facts all steps share.
    pub carry: M::Carry,
}

/// The moment a schedule fires for: what a start step with `every` or `cron` is made of.
///
/// Each slot has exactly one instance, over any number of workers and restarts. `every = "2h"` is at the multiples of that span since
/// 1970-01-01T00:00Z, so that restarts change nothing; `cron = "0 9 * * mon-fri"` reads the clocks of `tz = ".."`, or UTC. Where
/// these are set forward, a time that does not exist is the moment after the gap; where they are set back, one that exists
/// twice is the first of the two; a pattern that fires in every hour goes by the time that passes. A slot that comes while no
/// worker runs is caught up once, late, and of several the latest; with `missed = "skip"` one that is more than 2 s late is
/// passed over. A step with a business key that the instance before still holds starts nothing.
///
/// A changed annotation takes effect with the next boot of a worker; of two versions of a machine the higher one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot {
    /// When it was due.
    pub at: Timestamp,
}

impl<S: Carried> Failed<S> {
    /// For unit tests and the engine.
    pub fn new(step: S, carry: S::Carry, error: impl Into<String>, attempts: u32) -> Self {
        Self { step, carry, error: error.into(), kind: FailureKind::Error, attempts }
    }

    pub(crate) fn of_kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
        self
    }
}

impl<M: Carried> Cancelled<M> {
    /// For unit tests and the engine.
    pub fn new(step: M, carry: M::Carry) -> Self {
        Self { step, carry }
    }
}

impl<M: Carried> Expired<M> {
    /// For unit tests and the engine.
    pub fn new(step: M, carry: M::Carry) -> Self {
        Self { step, carry }
    }
}

impl<M: Carried, G> Received<M, G> {
    /// For unit tests and the engine.
    pub fn new(step: M, signal: G, carry: M::Carry) -> Self {
        Self { step, signal, carry }
    }
}

impl Slot {
    /// For unit tests and the engine.
    pub fn new(at: Timestamp) -> Self {
        Self { at }
    }
}

/// The step can start from a failed `S`.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` cannot catch a failed `{S}`",
    label = "`{Self}` does not say how to start from a failed `{S}`",
    note = "write `impl From<Failed<{S}>> for {Self}`"
)]
pub trait Catches<S: Carried>: Step {
    #[doc(hidden)]
    fn caught(failed: Failed<S>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<S: Carried, T: Step + From<Failed<S>>> Catches<S> for T {
    fn caught(failed: Failed<S>) -> Self {
        failed.into()
    }
}

/// The step can start from `X`: a cancelled, expired or signalled machine, or a schedule's slot.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` cannot start from `{X}`",
    label = "`{Self}` does not say how to start from `{X}`",
    note = "write `impl From<{X}> for {Self}`"
)]
pub trait TakesOver<X>: Step {
    #[doc(hidden)]
    fn taken_over(from: X) -> Self;
}

#[diagnostic::do_not_recommend]
impl<X, T: Step + From<X>> TakesOver<X> for T {
    fn taken_over(from: X) -> Self {
        from.into()
    }
}

/// The machine takes over rows of its older version `Old`.
#[diagnostic::on_unimplemented(
    message = "machine `{Self}` does not say how it takes over a `{Old}`",
    label = "needs `{Self}: From<{Old}>`",
    note = "write `impl From<{Old}> for {Self}`"
)]
pub trait Upgrades<Old>: Sized {
    #[doc(hidden)]
    fn upgraded(old: Old) -> Self;
}

#[diagnostic::do_not_recommend]
impl<Old, M: From<Old>> Upgrades<Old> for M {
    fn upgraded(old: Old) -> Self {
        old.into()
    }
}

/// The carry of a machine that takes over rows whose carry is an `Old`.
#[diagnostic::on_unimplemented(
    message = "the carry `{Self}` does not say how it is made of the older version's, a `{Old}`",
    label = "needs `{Self}: From<{Old}>`",
    note = "write `impl From<{Old}> for {Self}`, or keep the carry's type"
)]
pub trait UpgradesCarry<Old>: Sized {
    #[doc(hidden)]
    fn upgraded_carry(old: Old) -> Self;
}

#[diagnostic::do_not_recommend]
impl<Old, C: From<Old>> UpgradesCarry<Old> for C {
    fn upgraded_carry(old: Old) -> Self {
        old.into()
    }
}

impl<S: Carried + fmt::Debug> fmt::Debug for Failed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, carry: _, error, kind, attempts } = self;
        let mut out = f.debug_struct("Failed");
        out.field("step", step).field("error", error).field("kind", kind).field("attempts", attempts);
        out.finish_non_exhaustive()
    }
}

impl<M: Carried + fmt::Debug> fmt::Debug for Cancelled<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancelled").field("step", &self.step).finish_non_exhaustive()
    }
}

impl<M: Carried + fmt::Debug> fmt::Debug for Expired<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expired").field("step", &self.step).finish_non_exhaustive()
    }
}

impl<M: Carried + fmt::Debug, G: fmt::Debug> fmt::Debug for Received<M, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").field("step", &self.step).field("signal", &self.signal).finish_non_exhaustive()
    }
}
