use std::{fmt, marker::PhantomData, time::Duration};

use crate::{
    machine::{Awaitable, LimitKey, Machine, RateLimit, Step, StepError, limit_key, registry::Ran},
    model::{Effects, Invalid, Json, StartSpec, Verdict},
};

/// What one run of step `S` asked for. What is expected and is not so fails the test, and shows what it was.
pub struct StepOutcome<S> {
    ran: Result<Ran, StepError>,
    _step: PhantomData<fn() -> S>,
}

impl<S: Step> StepOutcome<S> {
    pub(super) fn new(ran: Result<Ran, StepError>) -> Self {
        Self { ran, _step: PhantomData }
    }

    /// It goes to step `T`: with this data.
    #[track_caller]
    pub fn goto<T: Step<Machine = S::Machine>>(&self) -> T {
        match &self.ran {
            Ok(Ran { verdict: Verdict::Goto { entry, .. }, .. }) if entry.step == T::NAME => {
                self.read(T::decode(&entry.state))
            }
            _ => self.unexpected(format_args!("goto {}", T::NAME)),
        }
    }

    /// It goes to a step: this one, as the enum.
    #[track_caller]
    pub fn target(&self) -> S::Machine {
        match &self.ran {
            Ok(Ran { verdict: Verdict::Goto { entry, .. }, .. }) => {
                self.read(S::Machine::load(entry.step, &entry.state))
            }
            _ => self.unexpected("goto"),
        }
    }

    /// It ends the machine: with this result.
    #[track_caller]
    pub fn done(&self) -> <S::Machine as Machine>::Output {
        match &self.ran {
            Ok(Ran { verdict: Verdict::Done { result, .. }, .. }) => self.read(S::Machine::load_output(result)),
            _ => self.unexpected("done"),
        }
    }

    /// It ends the machine as failed: for this reason.
    #[track_caller]
    pub fn failed(&self) -> &str {
        match &self.ran {
            Ok(Ran { verdict: Verdict::Fail { reason, .. }, .. }) => reason,
            _ => self.unexpected("fail"),
        }
    }

    /// It asked to run again: after this time.
    #[track_caller]
    pub fn retries_in(&self) -> Duration {
        match &self.ran {
            Ok(Ran { verdict: Verdict::RetryIn(after), .. }) => *after,
            _ => self.unexpected("retry_in"),
        }
    }

    /// It returned an error.
    #[track_caller]
    pub fn error(&self) -> &StepError {
        match &self.ran {
            Err(error) => error,
            Ok(_) => self.unexpected("an error"),
        }
    }

    /// How much later the step it goes to runs.
    #[track_caller]
    pub fn delay(&self) -> Duration {
        match &self.ran {
            Ok(Ran { verdict: Verdict::Goto { delay, .. }, .. }) => *delay,
            _ => self.unexpected("goto"),
        }
    }

    /// What all steps share, as it left it.
    #[track_caller]
    pub fn carry(&self) -> <S::Machine as Machine>::Carry {
        match &self.ran {
            Ok(Ran {
                verdict: Verdict::Goto { carry, .. } | Verdict::Done { carry, .. } | Verdict::Fail { carry, .. },
                ..
            }) => self.read(S::Machine::load_carry(S::Machine::VERSION, carry.as_ref())),
            _ => self.unexpected("an outcome that keeps the carry"),
        }
    }

    /// The children it starts at step `T`.
    #[track_caller]
    pub fn children<T: Step>(&self) -> Vec<T> {
        self.starts(&self.effects().children)
    }

    /// The instances it starts at step `T`, and nobody waits for.
    #[track_caller]
    pub fn spawned<T: Step>(&self) -> Vec<T> {
        self.starts(&self.effects().spawned)
    }

    /// The signals `G` it sends.
    #[track_caller]
    pub fn signals<G: Awaitable>(&self) -> Vec<G> {
        let sent = self.effects().signals.iter().filter_map(|sent| G::receive(&sent.name, &sent.payload));
        sent.map(|signal| self.read(signal)).collect()
    }

    /// What it charges to this key of rate limit `L`, in all.
    #[track_caller]
    pub fn charged<L: RateLimit>(&self, key: impl LimitKey<L::Key>) -> f64 {
        let key = limit_key(L::NAME, key);
        self.effects().charges.iter().filter(|charge| charge.key == key).map(|charge| charge.used).sum()
    }

    /// All that happens beside it.
    #[track_caller]
    pub fn effects(&self) -> &Effects {
        match &self.ran {
            Ok(ran) => &ran.effects,
            Err(_) => self.unexpected("an outcome"),
        }
    }

    #[track_caller]
    fn starts<T: Step>(&self, starts: &[StartSpec]) -> Vec<T> {
        let of_it = starts.iter().filter(|start| start.machine == T::Machine::NAME && start.entry.step == T::NAME);
        of_it.map(|start| self.read(T::decode(&start.entry.state))).collect()
    }

    #[track_caller]
    fn read<T>(&self, read: Result<T, Invalid>) -> T {
        match read {
            Ok(data) => data,
            Err(invalid) => panic!("{invalid}\n{self:?}"),
        }
    }

    #[track_caller]
    fn unexpected(&self, what: impl fmt::Display) -> ! {
        panic!("expected {what} of step {}, and it came to {self:?}", S::NAME)
    }
}

impl<S> fmt::Debug for StepOutcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let later = |delay: &Duration| if delay.is_zero() { String::new() } else { format!(" after {delay:?}") };
        match &self.ran {
            Err(error) => write!(f, "the error {error}"),
            Ok(Ran { verdict, effects }) => {
                match verdict {
                    Verdict::Goto { entry, delay, .. } => {
                        write!(f, "goto {} {}{}", entry.step, Json::as_str(&entry.state), later(delay))
                    }
                    Verdict::RetryIn(after) => write!(f, "retry_in {after:?}"),
                    Verdict::Done { result, .. } => write!(f, "done {}", result.as_str()),
                    Verdict::Fail { reason, .. } => write!(f, "fail {reason}"),
                }?;
                let Effects { children, spawned, signals, work, charges } = effects;
                let counts = [(children.len(), "children"), (spawned.len(), "spawned"), (signals.len(), "signals")];
                let counts = counts.into_iter().chain([(work.len(), "in_transaction"), (charges.len(), "charges")]);
                let mut some = counts.filter(|(count, _)| *count > 0);
                some.try_for_each(|(count, what)| write!(f, ", {count} {what}"))
            }
        }
    }
}
