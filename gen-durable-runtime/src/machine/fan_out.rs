use std::{fmt, marker::PhantomData};

use super::{
    Awaits, ChildOf, JoinStep, LimitKey, Outcome, RateLimit, Signal, Spawns, Startable, Step, To, Transition,
    charge::charge,
    outcome::{push, send},
};
use crate::model::{Effects, Invalid};

/// A move to a join step, with the children it waits for: made by [`fan_out`], ended by `.into()`.
#[must_use = "a fan-out does nothing unless `.into()` makes it the outcome of the step"]
pub struct FanOut<S: Step, T> {
    to: S::Machine,
    effects: Effects,
    invalid: Option<Invalid>,
    _to: PhantomData<fn() -> T>,
}

/// Moves to the join step `to`, which runs when the children added here ended; without any it runs at once.
pub fn fan_out<S: Transition<T>, T: JoinStep>(to: T) -> FanOut<S, T> {
    FanOut { to: S::arrive(to), effects: Effects::default(), invalid: None, _to: PhantomData }
}

impl<S: Step, T> FanOut<S, T> {
    /// Adds children; may be called again, for children of other machines too.
    pub fn children<X: Startable>(mut self, starts: impl IntoIterator<Item = X>) -> Self
    where
        X::Machine: ChildOf<T>,
    {
        starts.into_iter().for_each(|start| push(&mut self.effects.children, &mut self.invalid, start));
        self
    }

    /// Starts an instance together with this outcome; nobody waits for it.
    pub fn spawn<X: Startable>(mut self, start: X) -> Self
    where
        S: Spawns<X::Machine>,
    {
        push(&mut self.effects.spawned, &mut self.invalid, start);
        self
    }

    /// Sends a signal together with this outcome, as [`Outcome::signal`].
    pub fn signal<M, G, SLOT>(mut self, to: &To<M>, signal: G) -> Self
    where
        M: Awaits<G, SLOT>,
        G: Signal,
    {
        send(&mut self.effects.signals, &mut self.invalid, to, &signal, None);
        self
    }

    /// Charges what was used to a rate limit, as [`Outcome::charge`].
    pub fn charge<L: RateLimit>(mut self, key: impl LimitKey<L::Key>, used: f64) -> Self {
        charge::<L>(&mut self.effects.charges, &mut self.invalid, key, used);
        self
    }

    /// Sends a signal with a dedup key, as [`Outcome::signal_dedup`].
    pub fn signal_dedup<M, G, SLOT>(mut self, to: &To<M>, signal: G, key: impl Into<String>) -> Self
    where
        M: Awaits<G, SLOT>,
        G: Signal,
    {
        send(&mut self.effects.signals, &mut self.invalid, to, &signal, Some(key.into()));
        self
    }
}

impl<S: Step, T, R> From<FanOut<S, T>> for Outcome<S, R> {
    fn from(f: FanOut<S, T>) -> Self {
        Outcome::fan_out(f.to, f.effects, f.invalid)
    }
}

impl<S: Step, T> fmt::Debug for FanOut<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("FanOut");
        out.field("children", &self.effects.children.len())
            .field("spawned", &self.effects.spawned.len())
            .finish_non_exhaustive()
    }
}
