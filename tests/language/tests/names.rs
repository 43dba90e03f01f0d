//! Names of the user's that generated code must neither see nor collide with.
#![deny(warnings)]

/// A machine whose first step leads to every other one.
macro_rules! star {
    ($name:ident: $first:ident $($step:ident)*) => {
        #[gen_durable::durable_fsm]
        pub enum $name {
            #[step(start, next($($step),*))]
            $first,
            $(#[step(done)] $step,)*
        }
    };
}

/// Local types that are called like everything generated code needs.
mod shadows {
    #![allow(dead_code, unused_macros)]
    use ::gen_durable::{
        ConcurrencyKey as DeriveKey, Failed, KeyPart as DerivePart, RateLimit as DeriveLimit, Signal as DeriveSignal,
        Signals as DeriveSignals, Slot, TimedOut, done, durable_fsm, durable_job, goto,
    };

    pub struct Result;
    pub struct Option;
    pub struct Ok;
    pub struct Err;
    pub struct Some;
    pub struct None;
    pub struct State;
    pub struct Context;
    pub struct String;
    pub struct Vec;
    pub struct Box;
    pub struct Arc;
    pub struct Cow;
    pub struct Pin;
    pub struct Json;
    pub struct Entry;
    pub struct Outcome;
    pub struct StepContext;
    pub struct StepResult;
    pub struct StepError;
    pub struct Duration;
    pub struct Timestamp;
    pub struct Fallback;
    pub struct Registration;
    pub trait Future {}
    pub trait Send {}
    pub trait Sync {}
    pub trait Sized {}
    pub trait From {}
    pub trait Into {}
    pub trait Default {}
    pub trait Clone {}
    pub trait Copy {}
    pub trait Fn {}
    pub trait Iterator {}
    pub trait Serialize {}
    pub trait Deserialize {}
    pub trait Machine {}
    pub trait Step {}
    pub trait Signal {}
    pub mod core {}
    pub mod std {}
    pub mod serde {}
    pub mod inventory {}
    pub mod gen_durable {}
    macro_rules! panic {
        ($($any:tt)*) => {};
    }
    macro_rules! matches {
        ($($any:tt)*) => {};
    }

    type Number = ::core::primitive::u64;

    #[derive(Debug, DerivePart, ::serde::Serialize, ::serde::Deserialize)]
    pub struct Given(pub Number);
    #[derive(DeriveLimit)]
    #[rate_limit(allowed = 10, per = "1s", burst = 20, shards = 2, key(Given))]
    pub struct Limit;
    #[derive(DeriveKey)]
    #[concurrency(key(Given), limit = 8, shards = 2, held)]
    pub struct Gate;
    #[derive(DeriveSignal, ::serde::Serialize, ::serde::Deserialize)]
    #[signal(name = "paid", alias = "payed")]
    pub struct Paid {
        pub amount: Number,
    }
    #[derive(DeriveSignal, ::serde::Serialize, ::serde::Deserialize)]
    pub struct Sent {}
    #[derive(DeriveSignals)]
    pub enum Answer {
        Paid(Paid),
        Sent(Sent),
    }
    #[derive(::core::default::Default, ::serde::Serialize, ::serde::Deserialize)]
    pub struct Facts {
        pub tenant: Number,
    }

    pub struct Shop;

    #[durable_fsm(
        name = "shadowed",
        alias = "hidden",
        version = 2,
        queue = "q",
        output(Number),
        carry(Facts),
        handler(Shop),
        retry(attempts = 3, backoff = "1s", cap = "1m"),
        run_timeout = "5m",
        catch(Last),
        steps(derive(Debug)),
        concurrency(Gate, by(id))
    )]
    pub enum Shadowed {
        #[step(start, key(id, number, carry.tenant), every = "1h", next(Either, All), spawn(Child))]
        First { id: Given, number: Number },
        #[step(await(Paid, Sent), timeout = "1m", next(Several, Set))]
        Either { id: Given },
        #[step(await(all(Paid, Sent)), timeout = "1m", next(Several))]
        All { id: Given },
        #[step(await(Paid, count = 2), timeout = "1m", next(Set), rate_limit(Limit, by(id), weight = 2))]
        Several { id: Given },
        #[step(await(Answer), concurrency(none), next(Gather))]
        Set,
        #[step(join(Child), quorum = 1, timeout = "1m", next(Last), catch(Last), concurrency(none))]
        Gather,
        #[step(done, shield, concurrency(none))]
        Last,
    }

    impl ::core::convert::From<Failed<Shadowed>> for Last {
        fn from(_: Failed<Shadowed>) -> Self {
            Self
        }
    }
    impl ::core::convert::From<Failed<Gather>> for Last {
        fn from(_: Failed<Gather>) -> Self {
            Self
        }
    }
    impl ::core::convert::From<Slot> for First {
        fn from(_: Slot) -> Self {
            Self { id: Given(1), number: 1 }
        }
    }

    #[durable_job(retry(attempts = 2))]
    pub async fn child(_: &Shop, number: Number) -> ::core::result::Result<Number, ::gen_durable::StepError> {
        ::core::result::Result::Ok(number)
    }

    type Made<S> = ::gen_durable::StepResult<S>;
    type Cx = ::gen_durable::StepContext;

    impl ShadowedSteps for Shop {
        async fn first(&self, step: First, carry: &mut Facts, _: &Cx) -> Made<First> {
            carry.tenant += step.number;
            ::core::result::Result::Ok(goto(Either { id: step.id }))
        }
        async fn either(
            &self,
            step: Either,
            signal: ::core::result::Result<EitherSignal, TimedOut>,
            _: &mut Facts,
            _: &Cx,
        ) -> Made<Either> {
            ::core::result::Result::Ok(match signal {
                ::core::result::Result::Ok(_) => goto(Set),
                ::core::result::Result::Err(TimedOut) => goto(Several { id: step.id }),
            })
        }
        async fn all(
            &self,
            step: All,
            _: ::core::result::Result<
                AllSignals,
                ::gen_durable::Partial<(::core::option::Option<Paid>, ::core::option::Option<Sent>)>,
            >,
            _: &mut Facts,
            _: &Cx,
        ) -> Made<All> {
            ::core::result::Result::Ok(goto(Several { id: step.id }))
        }
        async fn several(
            &self,
            _: Several,
            _: ::core::result::Result<::std::vec::Vec<Paid>, ::gen_durable::Partial<::std::vec::Vec<Paid>>>,
            _: &mut Facts,
            _: &Cx,
        ) -> Made<Several> {
            ::core::result::Result::Ok(goto(Set))
        }
        async fn set(&self, _: Set, answer: Answer, _: &mut Facts, _: &Cx) -> Made<Set> {
            match answer {
                Answer::Paid(_) | Answer::Sent(_) => {
                    ::core::result::Result::Ok(::gen_durable::fan_out(Gather).children([Child::start(7)]).into())
                }
            }
        }
        async fn gather(
            &self,
            _: Gather,
            children: ::gen_durable::Joined<Child>,
            carry: &mut Facts,
            _: &Cx,
        ) -> Made<Gather> {
            carry.tenant += children.results().await?.into_iter().sum::<Number>();
            ::core::result::Result::Ok(goto(Last))
        }
        async fn last(&self, _: Last, carry: &mut Facts, _: &Cx) -> Made<Last> {
            ::core::result::Result::Ok(done(carry.tenant))
        }
    }
}

#[test]
fn local_types_may_be_called_like_anything() {
    use shadows::{Facts, First, Given, Paid, Shadowed, Shop};
    let shop = std::sync::Arc::new(Shop);
    let first = First { id: Given(1), number: 4 };
    let mut shadowed = language::Instance::start(gen_durable::start(first).carry(Facts { tenant: 1 }));
    assert_eq!(shadowed.key.as_deref(), Some("shadowed:1:4:1"));
    shadowed.run(&shop);
    shadowed.send(&Paid { amount: 1 });
    shadowed.run(&shop);
    shadowed.send(&Paid { amount: 1 });
    shadowed.run(&shop);
    shadowed.run_children(&shop);
    shadowed.run(&shop);
    assert_eq!(shadowed.result::<Shadowed>(), 12);
}

/// Steps that are called like types of the prelude, of the standard library and of the facade.
mod steps {
    use gen_durable::Machine as _;

    star! {
        Prelude: Result Option Ok Err Some None String Vec Box Future Send Sync From Into Default Clone
            State Context Duration Machine Step Signal Outcome StepContext StepResult StepError Entry Json Handler Run
            Failed Cancelled Slot Start Never Sent Given Any To
    }

    #[test]
    fn steps_may_be_called_like_types() {
        assert_eq!(Prelude::INFO.steps.len(), 39);
    }
}

/// Steps whose handler would be a keyword.
mod keywords {
    use gen_durable::Machine as _;

    star! {
        Keyword: As Async Await Break Const Continue Crate Dyn Else Enum Extern False Fn For Gen If Impl
            In Let Loop Match Mod Move Mut Pub Ref Return Self_ Static Struct Super Trait True Type Unsafe Use Where
            While Abstract Become Do Final Macro Override Priv Try Typeof Unsized Virtual Yield Union Raw Auto Safe
    }

    #[test]
    fn a_keyword_is_stored_as_it_is() {
        let names: Vec<&str> = Keyword::INFO.steps.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), 54);
        assert!(names.starts_with(&["as", "async", "await"]) && names.contains(&"self") && names.contains(&"super"));
    }
}

/// Fields that are called like keywords, and like what generated code calls its own.
mod fields {
    use gen_durable::prelude::*;
    use serde::{Deserialize, Serialize};

    pub struct Hands;

    #[derive(RateLimit)]
    #[rate_limit(allowed = 1, per = "1s", key(u64))]
    pub struct Limit;
    // clippy takes two parts of one type for an attribute that is given twice.
    #[allow(clippy::duplicated_attributes)]
    #[derive(ConcurrencyKey)]
    #[concurrency(key(u64, u64))]
    pub struct Lock;
    #[derive(Serialize, Deserialize, Signal)]
    pub struct Match {
        pub r#type: u64,
    }
    #[derive(Default, Serialize, Deserialize)]
    pub struct Carry {
        pub r#ref: u64,
    }

    #[durable_fsm(handler(Hands), output(u64), carry(Carry))]
    pub enum Fields {
        #[step(start, key(r#type, carry.r#ref), next(Own))]
        Raw { r#type: u64, r#async: u64, r#match: u64, r#mod: u64, r#gen: u64 },
        #[step(
            await(Match), timeout(deadline), rate_limit(Limit, by(value), weight(entry)),
            concurrency(Lock, by(key, carry.r#ref)), next(Last)
        )]
        Own {
            carry: u64,
            entry: u32,
            deadline: std::time::Duration,
            value: u64,
            key: u64,
            parts: u64,
            data: u64,
            state: u64,
            step: u64,
            stored: u64,
            other: u64,
            to: u64,
            given: u64,
            json: u64,
        },
        #[step(until(r#dyn), done, concurrency(Lock, by(r#fn, carry.r#ref)))]
        Last { r#dyn: jiff::Timestamp, r#fn: u64 },
    }

    impl FieldsSteps for Hands {
        async fn raw(&self, step: Raw, carry: &mut Carry, _: &StepContext) -> StepResult<Raw> {
            let Raw { r#type, r#async, r#match, r#mod, r#gen } = step;
            carry.r#ref += 1;
            let all = r#type + r#async + r#match + r#mod + r#gen;
            Ok(goto(Own {
                carry: all,
                entry: 1,
                deadline: std::time::Duration::from_secs(1),
                value: 1,
                key: 2,
                parts: 3,
                data: 4,
                state: 5,
                step: 6,
                stored: 7,
                other: 8,
                to: 9,
                given: 10,
                json: 11,
            }))
        }
        async fn own(
            &self,
            step: Own,
            signal: Result<Match, TimedOut>,
            _: &mut Carry,
            _: &StepContext,
        ) -> StepResult<Own> {
            let paid = signal.map_or(0, |signal| signal.r#type);
            Ok(goto(Last { r#dyn: jiff::Timestamp::UNIX_EPOCH, r#fn: step.carry + paid }))
        }
        async fn last(&self, step: Last, carry: &mut Carry, _: &StepContext) -> StepResult<Last> {
            Ok(done(step.r#fn + carry.r#ref))
        }
    }

    #[test]
    fn fields_may_be_called_like_anything() {
        let hands = std::sync::Arc::new(Hands);
        let raw = Raw { r#type: 1, r#async: 2, r#match: 3, r#mod: 4, r#gen: 5 };
        let mut fields = language::Instance::start(start(raw).carry(Carry { r#ref: 100 }));
        assert_eq!(fields.key.as_deref(), Some("fields:1:100"));
        assert!(fields.state.as_str().contains(r#""type":1"#), "{:?}", fields.state);
        fields.run(&hands);
        assert_eq!(fields.concurrency().as_deref(), Some("lock:2:101"));
        fields.send(&Match { r#type: 7 });
        fields.run(&hands);
        assert_eq!(fields.result::<Fields>(), 123);
    }
}

/// Jobs and their arguments.
mod jobs {
    use gen_durable::prelude::*;

    pub struct Hands;

    #[durable_job(key(r#type))]
    pub async fn r#match(
        hands: &Hands,
        r#type: u64,
        mut run: u64,
        handler: u64,
        cx: &StepContext,
    ) -> Result<u64, StepError> {
        let _ = hands;
        run += u64::from(cx.attempt());
        Ok(r#type + run + handler)
    }

    #[durable_job]
    pub async fn same(_: &Hands, same: u64, returned: u64, result: u64) -> Result<u64, std::io::Error> {
        Ok(same + returned + result)
    }

    #[test]
    fn arguments_may_be_called_like_anything() {
        let hands = std::sync::Arc::new(Hands);
        let mut job = language::Instance::start(Match::start(1, 2, 3));
        job.run(&hands);
        assert_eq!((job.result::<Match>(), job.key.as_deref()), (6, Some("match:1")));
        let mut job = language::Instance::start(Same::start(1, 2, 3));
        job.run(&hands);
        assert_eq!(job.result::<Same>(), 6);
    }
}
