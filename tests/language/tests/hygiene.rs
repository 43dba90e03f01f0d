//! Generated code uses nothing of the user's scope: no prelude, no names, no lints.
#![no_implicit_prelude]
#![deny(
    missing_docs,
    warnings,
    unreachable_pub,
    missing_debug_implementations,
    rust_2018_idioms,
    unused_qualifications
)]
#![deny(clippy::pedantic)]

/// Names that generated code must not see.
mod shadows {
    #![allow(dead_code, clippy::unused_async, clippy::cast_lossless)]
    use ::core::fmt::Debug;
    use ::gen_durable::{ConcurrencyKey, KeyPart, RateLimit, Signal, Signals, done, durable_fsm, durable_job, goto};
    use ::gen_durable::{Failed, Slot, StepContext, StepError, StepResult, TimedOut};

    #[derive(Debug)]
    struct Result;
    #[derive(Debug)]
    struct Option;
    #[derive(Debug)]
    struct Box;
    #[derive(Debug)]
    struct String;
    #[derive(Debug)]
    struct Vec;
    #[derive(Debug)]
    struct State;
    #[derive(Debug)]
    struct Future;
    #[derive(Debug)]
    struct Send;
    #[derive(Debug)]
    struct Some;
    #[derive(Debug)]
    struct Ok;
    #[derive(Debug)]
    struct Run;
    #[derive(Debug)]
    struct Handler;
    mod core {}
    mod std {}

    /// A key part.
    #[derive(Debug, KeyPart, ::serde::Serialize, ::serde::Deserialize)]
    pub(crate) struct Id(u64);
    /// A limit.
    #[derive(Debug, RateLimit)]
    #[rate_limit(allowed = 1, per = "1s", key(Id))]
    pub(crate) struct Limit;
    /// A lock.
    #[derive(Debug, ConcurrencyKey)]
    #[concurrency(key(Id))]
    pub(crate) struct Lock;
    /// A signal.
    #[derive(Debug, ::serde::Serialize, ::serde::Deserialize, Signal)]
    pub(crate) struct Ping {}
    /// Another.
    #[derive(Debug, ::serde::Serialize, ::serde::Deserialize, Signal)]
    pub(crate) struct Pong {
        /// Number.
        pub(crate) n: u32,
    }
    /// Both.
    #[derive(Debug, Signals)]
    pub(crate) enum Both {
        /// One.
        Ping(Ping),
        /// Other.
        Pong(Pong),
    }

    /// Facts.
    #[derive(Debug, ::core::default::Default, ::serde::Serialize, ::serde::Deserialize)]
    pub(crate) struct Facts {
        /// Number.
        pub(crate) n: u32,
    }

    /// Serves.
    #[derive(Debug)]
    pub(crate) struct Shop;

    /// A machine whose steps have the worst names.
    #[durable_fsm(handler(Shop), carry(Facts), catch(Type), steps(derive(Debug)), output(u32))]
    #[derive(Debug)]
    pub(crate) enum Machine {
        /// Keyword.
        #[step(start, key(id), next(Super, Self_), concurrency(Lock, by(id)))]
        Async {
            /// Identity.
            id: Id,
            /// Raw.
            r#type: u8,
        },
        /// Keyword.
        #[step(await(Ping, Pong), timeout = "1s", next(Self_), catch(Type))]
        Super,
        /// Keyword.
        #[step(await(all(Ping, Pong)), timeout = "1s", next(Step), rate_limit(Limit, by(id)))]
        Self_ {
            /// Identity.
            id: Id,
        },
        /// Named like a trait.
        #[step(await(Both), next(Gen))]
        Step,
        /// Keyword of 2024.
        #[step(await(Pong, count = 2), timeout = "1m", next(Type))]
        Gen,
        /// Keyword.
        #[step(done)]
        Type {
            /// Optional.
            #[serde(default, rename = "o")]
            o: ::core::option::Option<u8>,
        },
    }

    impl ::core::convert::From<Failed<Super>> for Type {
        fn from(_: Failed<Super>) -> Self {
            Self { o: ::core::option::Option::None }
        }
    }
    impl ::core::convert::From<Failed<Machine>> for Type {
        fn from(_: Failed<Machine>) -> Self {
            Self { o: ::core::option::Option::None }
        }
    }

    impl MachineSteps for Shop {
        async fn async_(&self, step: Async, carry: &mut Facts, _: &StepContext) -> StepResult<Async> {
            carry.n += step.r#type as u32;
            ::core::result::Result::Ok(goto(Self_ { id: step.id }))
        }
        async fn super_(
            &self,
            _: Super,
            signal: ::core::result::Result<SuperSignal, TimedOut>,
            _: &mut Facts,
            _: &StepContext,
        ) -> StepResult<Super> {
            let _ = signal.is_ok();
            ::core::result::Result::Ok(goto(Self_ { id: Id(1) }))
        }
        async fn self_(
            &self,
            _: Self_,
            _: ::core::result::Result<
                Self_Signals,
                ::gen_durable::Partial<(::core::option::Option<Ping>, ::core::option::Option<Pong>)>,
            >,
            _: &mut Facts,
            _: &StepContext,
        ) -> StepResult<Self_> {
            ::core::result::Result::Ok(goto(Step))
        }
        async fn step(&self, _: Step, _: Both, _: &mut Facts, _: &StepContext) -> StepResult<Step> {
            ::core::result::Result::Ok(goto(Gen))
        }
        async fn gen_(
            &self,
            _: Gen,
            _: ::core::result::Result<::std::vec::Vec<Pong>, ::gen_durable::Partial<::std::vec::Vec<Pong>>>,
            _: &mut Facts,
            _: &StepContext,
        ) -> StepResult<Gen> {
            ::core::result::Result::Ok(goto(Type { o: ::core::option::Option::None }))
        }
        async fn type_(&self, _: Type, _: &mut Facts, _: &StepContext) -> StepResult<Type> {
            ::core::result::Result::Ok(done(1))
        }
    }

    /// A job.
    #[durable_job(every = "1h", key(id))]
    pub(crate) async fn job(_shop: &Shop, id: Id, cx: &StepContext) -> ::core::result::Result<u64, StepError> {
        let _ = cx.attempt();
        ::core::result::Result::Ok(id.0)
    }
    impl ::core::convert::From<Slot> for Job {
        fn from(_: Slot) -> Self {
            Self { id: Id(1) }
        }
    }

    ::gen_durable::register!(Other => Shop);

    /// Served elsewhere.
    #[durable_fsm]
    #[derive(Debug)]
    pub(crate) enum Other {
        /// Only.
        #[step(start, done)]
        Only,
    }
    impl OtherSteps for Shop {
        async fn only(&self, _: Only, _: &StepContext) -> StepResult<Only> {
            ::core::result::Result::Ok(done(()))
        }
    }
}

/// A machine inside a function.
#[::core::prelude::v1::test]
fn in_a_function() {
    use ::gen_durable::{StepContext, StepResult, done, durable_fsm, goto};
    #[derive(Debug)]
    struct Local;
    #[durable_fsm(handler(Local))]
    #[derive(Debug)]
    enum Inner {
        #[step(start, next(Last))]
        First,
        #[step(done)]
        Last,
    }
    impl InnerSteps for Local {
        async fn first(&self, _: First, _: &StepContext) -> StepResult<First> {
            ::core::result::Result::Ok(goto(Last))
        }
        async fn last(&self, _: Last, _: &StepContext) -> StepResult<Last> {
            ::core::result::Result::Ok(done(()))
        }
    }
    let mut inner = ::language::Instance::start(::gen_durable::start(First));
    inner.run(&::std::sync::Arc::new(Local));
    inner.result::<Inner>();
}

/// Steps that are compiled only sometimes.
#[::core::prelude::v1::test]
fn conditional_steps() {
    use ::core::result::Result::Ok;
    use ::gen_durable::{Machine, Signal, StepContext, StepResult, done, durable_fsm, goto};
    #[derive(Debug, ::serde::Serialize, ::serde::Deserialize, Signal)]
    struct Rare {}
    #[derive(Debug)]
    struct Local;
    #[durable_fsm(handler(Local))]
    #[derive(Debug)]
    enum Conditional {
        #[step(start, next(Never, Last))]
        First,
        #[cfg(windows)]
        #[step(await(Rare), next(Last))]
        Never { x: NoSuchType },
        #[cfg(not(windows))]
        #[step(done)]
        Last {
            #[cfg(windows)]
            no: NoSuchType,
            yes: u8,
        },
    }
    impl ConditionalSteps for Local {
        async fn first(&self, _: First, _: &StepContext) -> StepResult<First> {
            Ok(goto(Last { yes: 1 }))
        }
        async fn last(&self, _: Last, _: &StepContext) -> StepResult<Last> {
            Ok(done(()))
        }
    }
    let mut inner = ::language::Instance::start(::gen_durable::start(First));
    inner.run(&::std::sync::Arc::new(Local));
    inner.result::<Conditional>();
    ::std::assert_eq!(Conditional::INFO.steps.len(), 2);
    ::std::assert_eq!(Conditional::INFO.step("first").unwrap().next, ["last"]);
    let _ = Rare {};
}
