use std::{fmt, time::Duration};

use super::{
    Awaits, Ends, EnteredByGoto, LimitKey, Machine, MayFail, Output, RateLimit, Signal, Spawns, Startable, Step,
    StepError, To, Transition, Tx, TxFuture, TxWork, Unparked, charge::charge, registry::Ran,
};
use crate::model::{Effects, Invalid, Json, SignalSpec, StartSpec, Verdict, Work};

/// What a handler of step `S` returns: the only way to leave the step.
///
/// Nothing happens before it is committed; what cannot be stored is an error of the step, never a panic.
#[must_use = "an outcome does nothing unless the handler returns it"]
// `R` is spelled out so that `done(wrong)` is a plain E0308 at the argument; a projection would give E0271.
pub struct Outcome<S: Step, R = Output<S>> {
    then: Then<S::Machine, R>,
    effects: Effects,
    invalid: Option<Invalid>,
}

enum Then<M, R> {
    Goto { to: M, delay: Duration },
    Done(R),
    Fail(String),
    RetryIn(Duration),
}

/// Moves to step `to`, under the entry rules that stand on `to`.
pub fn goto<S: Transition<T>, T: EnteredByGoto, R>(to: T) -> Outcome<S, R> {
    Outcome::new(Then::Goto { to: S::arrive(to), delay: Duration::ZERO })
}

/// Moves to step `to`, which runs no earlier than `delay` from now; at most 100 years.
pub fn goto_after<S: Transition<T>, T: Unparked, R>(to: T, delay: Duration) -> Outcome<S, R> {
    Outcome::new(Then::Goto { to: S::arrive(to), delay })
}

/// Ends the machine with its result.
pub fn done<S: Ends, R>(result: R) -> Outcome<S, R> {
    Outcome::new(Then::Done(result))
}

/// Ends the machine as failed, at once: no retry, no catch.
pub fn fail<S: MayFail, R>(reason: impl fmt::Display) -> Outcome<S, R> {
    Outcome::new(Then::Fail(reason.to_string()))
}

/// Runs this step again after `delay`. It counts as an attempt, but only errors are bounded by `attempts`.
pub fn retry_in<S: Step, R>(delay: Duration) -> Outcome<S, R> {
    Outcome::new(Then::RetryIn(delay))
}

impl<S: Step, R> Outcome<S, R> {
    fn new(then: Then<S::Machine, R>) -> Self {
        Self { then, effects: Effects::default(), invalid: None }
    }

    pub(super) fn fan_out(to: S::Machine, effects: Effects, invalid: Option<Invalid>) -> Self {
        Self { then: Then::Goto { to, delay: Duration::ZERO }, effects, invalid }
    }

    /// Starts an instance together with this outcome, in the same transaction; nobody waits for it.
    pub fn spawn<X: Startable>(mut self, start: X) -> Self
    where
        S: Spawns<X::Machine>,
    {
        push(&mut self.effects.spawned, &mut self.invalid, start);
        self
    }

    /// Sends a signal together with this outcome, in the same transaction: exactly once. To one that has ended by
    /// then it is no signal.
    pub fn signal<M, G, SLOT>(mut self, to: &To<M>, signal: G) -> Self
    where
        M: Awaits<G, SLOT>,
        G: Signal,
    {
        send(&mut self.effects.signals, &mut self.invalid, to, &signal, None);
        self
    }

    /// As [`Outcome::signal`], with a dedup key: a later signal of the target with the same key is no signal, whoever
    /// sends it and by whichever way, for the life of that instance; nor is this one if an earlier one had the key. As
    /// `client.of::<M>(..).signal(..).dedup(key)` does. It is for what several visits or instances may all say; the
    /// outcome itself is committed once, and sends its signals once, without it.
    ///
    /// ```ignore
    /// // Whichever parcel is the last to arrive says so; the order hears it once.
    /// Ok(done(()).signal_dedup(&To::<Checkout>::key(order), Arrived {}, "arrived"))
    /// ```
    pub fn signal_dedup<M, G, SLOT>(mut self, to: &To<M>, signal: G, key: impl Into<String>) -> Self
    where
        M: Awaits<G, SLOT>,
        G: Signal,
    {
        send(&mut self.effects.signals, &mut self.invalid, to, &signal, Some(key.into()));
        self
    }

    /// Takes what this outcome really used from a key of rate limit `L`, in the transaction that commits it: exactly once,
    /// however often the commit is tried; an outcome that is dropped, because its claim was lost or a cancel came, charges nothing,
    /// nor does an `Err`. The key is its part, a tuple of its parts, or `()`; `used` are tokens or fractions of one, from 0 to
    /// 10^12; anything else is an error of the step.
    ///
    /// It never waits for tokens: what was used may be more than there is. Then the key is in debt, and the next step that
    /// asks it for tokens waits until the refill has paid. A limit that no worker has made known yet is counted as `L` says it.
    ///
    /// ```ignore
    /// // Admitted by its estimate, `rate_limit(Tokens, by(model), weight(estimate))`; the rest is known only now.
    /// let answer = self.ask(&step.prompt).await?;
    /// let more = answer.tokens as f64 - f64::from(step.estimate);
    /// Ok(done(answer.text).charge::<Tokens>(step.model, more.max(0.0)))
    /// ```
    pub fn charge<L: RateLimit>(mut self, key: impl LimitKey<L::Key>, used: f64) -> Self {
        charge::<L>(&mut self.effects.charges, &mut self.invalid, key, used);
        self
    }

    /// Runs `work` in the transaction that commits this outcome: its writes and the transition are there together, exactly
    /// once, or neither is, also when the process dies or the acknowledgement is lost. Nothing of it runs, and no
    /// connection is held, before the handler has returned; it may run again after a failed commit, never after one that held. An
    /// error is an error of the step: nothing is written, and the step is tried again.
    ///
    /// ```ignore
    /// Ok(done(()).in_transaction(move |mut tx| {
    ///     Box::pin(async move {
    ///         let debit = sqlx::query("UPDATE accounts SET balance = balance - $1 WHERE id = $2");
    ///         debit.bind(amount).bind(from).execute(tx.postgres()?).await?;
    ///         Ok(())
    ///     })
    /// }))
    /// ```
    pub fn in_transaction(mut self, work: impl for<'t> Fn(Tx<'t>) -> TxFuture<'t> + Send + Sync + 'static) -> Self {
        self.effects.work.push(Work::new(TxWork::new(work)));
        self
    }

    /// For unit tests: the step it moves to, as the enum.
    pub fn target(&self) -> Option<&S::Machine> {
        match &self.then {
            Then::Goto { to, .. } => Some(to),
            Then::Done(_) | Then::Fail(_) | Then::RetryIn(_) => None,
        }
    }

    /// For unit tests: the result it ends with.
    pub fn result(&self) -> Option<&R> {
        match &self.then {
            Then::Done(result) => Some(result),
            Then::Goto { .. } | Then::Fail(_) | Then::RetryIn(_) => None,
        }
    }

    /// For unit tests: why it ends as failed.
    pub fn reason(&self) -> Option<&str> {
        match &self.then {
            Then::Fail(reason) => Some(reason),
            Then::Goto { .. } | Then::Done(_) | Then::RetryIn(_) => None,
        }
    }

    /// For unit tests: how much later it moves, or runs this step again.
    pub fn delay(&self) -> Option<Duration> {
        match &self.then {
            Then::Goto { delay, .. } => Some(*delay),
            Then::RetryIn(delay) => Some(*delay),
            Then::Done(_) | Then::Fail(_) => None,
        }
    }
}

impl<S: Step> Outcome<S> {
    /// What the engine plans from, with the carry as the handler left it.
    pub(super) fn into_ran(self, carry: &<S::Machine as Machine>::Carry) -> Result<Ran, StepError> {
        if let Some(invalid) = self.invalid {
            return Err(invalid.into());
        }
        let verdict = verdict::<S::Machine>(self.then, carry)?;
        Ok(Ran { verdict, effects: self.effects })
    }
}

fn verdict<M: Machine>(then: Then<M, M::Output>, carry: &M::Carry) -> Result<Verdict, Invalid> {
    let kept = || -> Result<Option<Json>, Invalid> { M::store_carry(carry) };
    Ok(match then {
        Then::Goto { to, delay } => {
            let entry = to.into_entry(carry)?;
            entry.check()?;
            Verdict::Goto { entry, delay, carry: kept()? }
        }
        Then::Done(result) => Verdict::Done { result: M::store_output(&result)?, carry: kept()? },
        Then::Fail(reason) => Verdict::Fail { reason, carry: kept()? },
        Then::RetryIn(delay) => Verdict::RetryIn(delay),
    })
}

/// Keeps the first start that cannot be stored: it becomes the step's error.
pub(super) fn push<X: Startable>(starts: &mut Vec<StartSpec>, invalid: &mut Option<Invalid>, start: X) {
    match start.into_spec() {
        Ok(spec) => starts.push(spec),
        Err(error) => *invalid = invalid.take().or(Some(error)),
    }
}

/// Keeps the first signal that cannot be stored: it becomes the step's error.
pub(super) fn send<M, G: Signal>(
    signals: &mut Vec<SignalSpec>,
    invalid: &mut Option<Invalid>,
    to: &To<M>,
    signal: &G,
    dedup: Option<String>,
) {
    let spec = signal.payload().map(|payload| {
        let (target, name) = (to.target().clone(), G::NAME.to_owned());
        SignalSpec { target, name, payload, dedup }
    });
    match spec {
        Ok(spec) => signals.push(spec),
        Err(error) => *invalid = invalid.take().or(Some(error)),
    }
}

impl<S: Step, R> fmt::Debug for Outcome<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.then {
            Then::Goto { .. } => "goto",
            Then::Done(_) => "done",
            Then::Fail(_) => "fail",
            Then::RetryIn(_) => "retry_in",
        };
        f.debug_struct("Outcome").field("of", &S::NAME).field("does", &what).finish_non_exhaustive()
    }
}
