use std::{fmt, marker::PhantomData};

use super::{ChildOf, JoinStep, Outcome, Spawns, Startable, Step, Transition, outcome::push};
use crate::model::{Invalid, StartSpec};

/// A move to a join step, with the children it waits for: made by [`fan_out`], ended by `.into()`.
#[must_use = "a fan-out does nothing unless `.into()` makes it the outcome of the step"]
pub struct FanOut<S: Step, T> {
    to: S::Machine,
    children: Vec<StartSpec>,
    spawned: Vec<StartSpec>,
    invalid: Option<Invalid>,
    _to: PhantomData<fn() -> T>,
}

/// Moves to the join step `to`, which runs when the children added here ended; without any it runs at once.
pub fn fan_out<S: Transition<T>, T: JoinStep>(to: T) -> FanOut<S, T> {
    FanOut { to: S::arrive(to), children: vec![], spawned: vec![], invalid: None, _to: PhantomData }
}

impl<S: Step, T> FanOut<S, T> {
    /// Adds children; may be called again, for children of other machines too.
    pub fn children<X: Startable>(mut self, starts: impl IntoIterator<Item = X>) -> Self
    where
        X::Machine: ChildOf<T>,
    {
        starts.into_iter().for_each(|start| push(&mut self.children, &mut self.invalid, start));
        self
    }

    /// Starts an instance together with this outcome; nobody waits for it.
    pub fn spawn<X: Startable>(mut self, start: X) -> Self
    where
        S: Spawns<X::Machine>,
    {
        push(&mut self.spawned, &mut self.invalid, start);
        self
    }
}

impl<S: Step, T, R> From<FanOut<S, T>> for Outcome<S, R> {
    fn from(f: FanOut<S, T>) -> Self {
        Outcome::fan_out(f.to, f.children, f.spawned, f.invalid)
    }
}

impl<S: Step, T> fmt::Debug for FanOut<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("FanOut");
        out.field("children", &self.children.len()).field("spawned", &self.spawned.len()).finish_non_exhaustive()
    }
}
