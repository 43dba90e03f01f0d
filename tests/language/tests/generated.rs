//! Machines that a `macro_rules!` writes: some tokens are the macro's, some its caller's.
#![deny(warnings)]

use std::sync::Arc;

use gen_durable::{Cancelled, Expired, Failed, Received, Slot, prelude::*};
use language::Instance;
use serde::{Deserialize, Serialize};

pub struct Hands;

#[derive(RateLimit)]
#[rate_limit(allowed = 10, per = "1s", key(u64))]
pub struct Limit;
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;
#[derive(Default, Serialize, Deserialize)]
pub struct Facts {
    pub n: u64,
}

/// Every name is the caller's, every option the macro's.
macro_rules! names_given {
    (
        $machine:ident, $handler:ty, $carry:ty, $output:ty, $first:ident, $wait:ident, $last:ident, $field:ident: $ty:ty,
        $signal:ident, $stop:ident, $limit:path, $lock:path
    ) => {
        #[derive(Serialize, Deserialize, Signal)]
        pub struct $signal {
            pub $field: $ty,
        }
        #[derive(Serialize, Deserialize, Signal)]
        pub struct $stop {}
        #[durable_fsm(
            handler($handler),
            carry($carry),
            output($output),
            catch($last),
            on_cancel($last),
            on_deadline($last),
            deadline = "30d",
            on($stop, $last)
        )]
        pub enum $machine {
            #[step(
                start,
                key($field),
                rate_limit($limit, by($field), weight($field)),
                concurrency($lock, by($field)),
                every = "1h",
                next($wait)
            )]
            $first { $field: $ty },
            #[step(await($signal, $stop), timeout = "1m", catch($last), next($last))]
            $wait { $field: $ty },
            #[step(done)]
            $last { $field: $ty },
        }
        impl From<Failed<$machine>> for $last {
            fn from(_: Failed<$machine>) -> Self {
                Self { $field: 0 }
            }
        }
        impl From<Failed<$wait>> for $last {
            fn from(failed: Failed<$wait>) -> Self {
                Self { $field: failed.step.$field }
            }
        }
        impl From<Cancelled<$machine>> for $last {
            fn from(_: Cancelled<$machine>) -> Self {
                Self { $field: 0 }
            }
        }
        impl From<Expired<$machine>> for $last {
            fn from(_: Expired<$machine>) -> Self {
                Self { $field: 0 }
            }
        }
        impl From<Received<$machine, $stop>> for $last {
            fn from(_: Received<$machine, $stop>) -> Self {
                Self { $field: 0 }
            }
        }
        impl From<Slot> for $first {
            fn from(_: Slot) -> Self {
                Self { $field: 1 }
            }
        }
    };
}

names_given!(Given, Hands, Facts, u64, First, Wait, Last, carry: u64, Paid, Stop, Limit, Lock);

impl GivenSteps for Hands {
    async fn first(&self, step: First, facts: &mut Facts, _: &StepContext) -> StepResult<First> {
        facts.n += 1;
        Ok(goto(Wait { carry: step.carry }))
    }
    async fn wait(
        &self,
        step: Wait,
        signal: Result<WaitSignal, TimedOut>,
        facts: &mut Facts,
        _: &StepContext,
    ) -> StepResult<Wait> {
        facts.n += 1;
        Ok(match signal {
            Ok(WaitSignal::Paid(paid)) => goto(Last { carry: step.carry + paid.carry }),
            Ok(WaitSignal::Stop(_)) | Err(TimedOut) => Err("stopped").permanent()?,
        })
    }
    async fn last(&self, step: Last, facts: &mut Facts, _: &StepContext) -> StepResult<Last> {
        Ok(done(step.carry + facts.n))
    }
}

#[test]
fn the_callers_names_and_the_macros_options_meet() {
    let hands = Arc::new(Hands);
    let mut given = Instance::start(start(First { carry: 3 }));
    assert_eq!((given.key.as_deref(), given.concurrency().as_deref()), (Some("given:3"), Some("lock:3")));
    given.run(&hands);
    given.send(&Paid { carry: 10 });
    given.run(&hands);
    assert_eq!(given.result::<Given>(), 15);
    let mut given = Instance::start(start(First { carry: 3 }));
    given.run(&hands);
    given.send(&Stop {});
    given.run(&hands);
    assert_eq!(given.result::<Given>(), 4);
}

/// The attribute is the macro's, what it stands on the caller's.
macro_rules! passed {
    ($(#[$attribute:meta])* $vis:vis enum $name:ident { $($(#[$inner:meta])* $step:ident $({ $($field:ident: $ty:ty),* })?),* }) => {
        #[durable_fsm(handler(Hands))]
        $(#[$attribute])*
        $vis enum $name { $($(#[$inner])* $step $({ $($field: $ty),* })?),* }
    };
}

passed! {
    /// The caller's.
    #[derive(Debug)]
    pub enum Passed {
        #[step(start, key(order), next(Ended))]
        Begun { order: u64 },
        #[step(done)]
        Ended
    }
}

impl PassedSteps for Hands {
    async fn begun(&self, _: Begun, _: &StepContext) -> StepResult<Begun> {
        Ok(goto(Ended))
    }
    async fn ended(&self, _: Ended, _: &StepContext) -> StepResult<Ended> {
        Ok(done(()))
    }
}

/// Everything is the macro's: handlers, conversions, and a module for each machine.
macro_rules! whole {
    ($module:ident, $delta:literal, $limit:expr) => {
        mod $module {
            use gen_durable::prelude::*;
            pub struct Counter;
            #[durable_fsm(name = $delta, output(u64), handler(Counter))]
            pub enum Count {
                #[step(start, next(Up), done)]
                Up { n: u64 },
            }
            impl CountSteps for Counter {
                async fn up(&self, step: Up, _: &StepContext) -> StepResult<Up> {
                    let Up { n } = step;
                    Ok(if n < $limit { goto(Up { n: n + 1 }) } else { done(n) })
                }
            }
        }
    };
}

whole!(to_three, "to_three", 3);
whole!(to_five, "to_five", 5);

#[test]
fn a_macro_writes_the_same_machine_twice() {
    let mut three = Instance::start(start(to_three::Up { n: 0 }));
    three.run(&Arc::new(to_three::Counter));
    assert_eq!(three.result::<to_three::Count>(), 3);
    let mut five = Instance::start(start(to_five::Up { n: 0 }));
    five.run(&Arc::new(to_five::Counter));
    assert_eq!(five.result::<to_five::Count>(), 5);
}

/// A job that is made by a macro.
macro_rules! job {
    ($name:ident($handler:ident: $ty:ty, $($argument:ident: $of:ty),*) -> $output:ty $body:block) => {
        #[durable_job(retry(attempts = 2))]
        pub async fn $name($handler: &$ty, $($argument: $of),*) -> Result<$output, StepError> $body
    };
}

job!(add(_hands: Hands, run: u64, data: u64) -> u64 { Ok(run + data) });

#[test]
fn a_job_is_written_by_a_macro() {
    let mut sum = Instance::start(Add::start(1, 2));
    sum.run(&Arc::new(Hands));
    assert_eq!(sum.result::<Add>(), 3);
}

/// What a crate that exports such a macro has: the facade by `$crate`.
pub use gen_durable as facade;

macro_rules! by_crate {
    ($name:ident, $step:ident) => {
        #[derive($crate::facade::RateLimit)]
        #[rate_limit(allowed = 1, per = "1s", key(u64), crate($crate::facade))]
        pub struct Slow;
        #[$crate::facade::durable_fsm(crate($crate::facade))]
        pub enum $name {
            #[step(start, rate_limit(Slow, by(n)), done)]
            $step { n: u64 },
        }
    };
}

mod by_crate {
    by_crate!(ByCrate, Only);
}

#[test]
fn a_macro_of_another_crate_names_the_facade_by_its_own() {
    assert_eq!(by_crate::ByCrate::INFO.steps.len(), 1);
}
