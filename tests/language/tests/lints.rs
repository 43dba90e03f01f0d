//! Every lint that the compiler allows by default, denied: none is said of generated code.
#![deny(warnings)]
#![deny(
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    closure_returning_async_block,
    deprecated_in_future,
    deprecated_safe_2024,
    deref_into_dyn_supertrait,
    edition_2024_expr_fragment_specifier,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    ffi_unwind_calls,
    future_incompatible,
    if_let_rescope,
    impl_trait_overcaptures,
    impl_trait_redundant_captures,
    keyword_idents,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    missing_unsafe_on_extern,
    nonstandard_style,
    non_ascii_idents,
    redundant_imports,
    redundant_lifetimes,
    rust_2018_idioms,
    rust_2024_incompatible_pat,
    rust_2024_prelude_collisions,
    single_use_lifetimes,
    tail_expr_drop_order,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unsafe_attr_outside_unsafe,
    unsafe_op_in_unsafe_fn,
    unstable_features,
    unused,
    unused_extern_crates,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
// Of `clippy::restriction` those that a strict project turns on.
#![deny(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::as_conversions,
    clippy::absolute_paths,
    clippy::arithmetic_side_effects,
    clippy::default_numeric_fallback,
    clippy::else_if_without_else,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::expect_used,
    clippy::impl_trait_in_params,
    clippy::indexing_slicing,
    clippy::let_underscore_untyped,
    clippy::missing_docs_in_private_items,
    clippy::missing_inline_in_public_items,
    clippy::missing_trait_methods,
    clippy::panic,
    clippy::partial_pub_fields,
    clippy::pattern_type_mismatch,
    clippy::question_mark_used,
    clippy::renamed_function_params,
    clippy::same_name_method,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::single_char_lifetime_names,
    clippy::todo,
    clippy::unreachable,
    clippy::unwrap_used,
    clippy::use_self,
    clippy::wildcard_enum_match_arm
)]
#![allow(clippy::redundant_pub_crate, reason = "`unreachable_pub` asks for the contrary")]
#![forbid(unsafe_code)]

use core::time::Duration;

use gen_durable::{Cancelled, Failed, Received, Slot, prelude::*};
use serde::{Deserialize, Serialize};

/// A key part.
#[derive(Debug, Clone, Copy, KeyPart, Serialize, Deserialize)]
pub(crate) struct Tenant(pub(crate) u64);
/// A limit.
#[derive(Debug, Clone, Copy, RateLimit)]
#[rate_limit(allowed = 10, per = "1s", shards = 2, key(Tenant))]
pub(crate) struct Carrier;
/// A lock.
#[derive(Debug, Clone, Copy, ConcurrencyKey)]
#[concurrency(key(Tenant), limit = 4, held)]
pub(crate) struct Dock;
/// A signal.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Signal)]
pub(crate) struct Paid {
    /// How much.
    pub(crate) amount: u64,
}
/// A signal without data.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Signal)]
pub(crate) struct Stopped;
/// A set.
#[derive(Debug, Clone, Copy, Signals)]
pub(crate) enum Event {
    /// One.
    Paid(Paid),
    /// The other.
    Stopped(Stopped),
}
/// What all steps share.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// A number.
    pub(crate) runs: u64,
}
/// Serves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hands;

/// The version before.
pub(crate) mod before {
    /// Needs no handlers.
    #[derive(Debug, Clone, Copy)]
    #[gen_durable::durable_fsm(name = "strict")]
    pub(crate) enum Strict {
        /// The only step.
        #[step(start, done)]
        Only,
    }
}

/// Everything that an annotation may say.
#[durable_fsm(
    name = "strict",
    version = 2,
    from(before::Strict),
    output(u64),
    carry(Facts),
    handler(Hands),
    catch(Ended),
    on_cancel(Ended),
    on(Stopped, Ended),
    concurrency(Dock, by(tenant)),
    retry(attempts = 3),
    steps(derive(Debug, Clone, Copy))
)]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Strict {
    /// Begins.
    #[step(start, key(tenant, carry.runs), next(Either, Both, Timed), every = "1h", spawn(Count))]
    Begun {
        /// Whose.
        tenant: Tenant,
    },
    /// One of two.
    #[step(await(Paid, Stopped), timeout = "1m", next(Several))]
    Either {
        /// Whose.
        tenant: Tenant,
    },
    /// Both.
    #[step(await(all(Paid, Stopped)), timeout(bound), next(Several))]
    Both {
        /// Whose.
        tenant: Tenant,
        /// How long.
        bound: Duration,
    },
    /// Two of one.
    #[step(await(Paid, count = 2), rate_limit(Carrier, by(tenant), weight(weight)), next(Any))]
    Several {
        /// Whose.
        tenant: Tenant,
        /// How much.
        weight: u8,
    },
    /// Any of a set.
    #[step(await(Event), until(at), next(Gathered))]
    Any {
        /// Whose.
        tenant: Tenant,
        /// Until when.
        at: jiff::Timestamp,
    },
    /// Children.
    #[step(join(Count), quorum(quorum), catch(Ended), next(Timed))]
    Gathered {
        /// Whose.
        tenant: Tenant,
        /// How many.
        quorum: u32,
    },
    /// A timer.
    #[step(timeout = "1s", next(Ended), concurrency(none))]
    Timed,
    /// The end.
    #[step(done, fail, concurrency(none), shield)]
    Ended,
}

impl From<before::Strict> for Strict {
    fn from(_: before::Strict) -> Self {
        Self::Ended
    }
}
impl From<()> for Facts {
    fn from((): ()) -> Self {
        Self { runs: 0 }
    }
}
impl From<Failed<Strict>> for Ended {
    fn from(_: Failed<Strict>) -> Self {
        Self
    }
}
impl From<Failed<Gathered>> for Ended {
    fn from(_: Failed<Gathered>) -> Self {
        Self
    }
}
impl From<Cancelled<Strict>> for Ended {
    fn from(_: Cancelled<Strict>) -> Self {
        Self
    }
}
impl From<Received<Strict, Stopped>> for Ended {
    fn from(_: Received<Strict, Stopped>) -> Self {
        Self
    }
}
impl From<Slot> for Begun {
    fn from(_: Slot) -> Self {
        Self { tenant: Tenant(0) }
    }
}

impl StrictSteps for Hands {
    async fn begun(&self, step: Begun, _: &mut Facts, _: &StepContext) -> StepResult<Begun> {
        Ok(goto(Either { tenant: step.tenant }))
    }
    async fn either(
        &self,
        step: Either,
        signal: Result<EitherSignal, TimedOut>,
        _: &mut Facts,
        _: &StepContext,
    ) -> StepResult<Either> {
        match signal {
            Ok(EitherSignal::Paid(_) | EitherSignal::Stopped(_)) | Err(TimedOut) => {
                Ok(goto(Several { tenant: step.tenant, weight: 1 }))
            }
        }
    }
    async fn both(
        &self,
        step: Both,
        _: Result<BothSignals, Partial<(Option<Paid>, Option<Stopped>)>>,
        _: &mut Facts,
        _: &StepContext,
    ) -> StepResult<Both> {
        Ok(goto(Several { tenant: step.tenant, weight: 1 }))
    }
    async fn several(&self, step: Several, _: Vec<Paid>, _: &mut Facts, _: &StepContext) -> StepResult<Several> {
        Ok(goto(Any { tenant: step.tenant, at: jiff::Timestamp::UNIX_EPOCH }))
    }
    async fn any(&self, step: Any, signal: Result<Event, TimedOut>, _: &mut Facts, _: &StepContext) -> StepResult<Any> {
        let number = match signal {
            Ok(Event::Paid(paid)) => paid.amount,
            Ok(Event::Stopped(Stopped)) | Err(TimedOut) => 0,
        };
        Ok(fan_out(Gathered { tenant: step.tenant, quorum: 1 }).children([Count::start(number)]).into())
    }
    async fn gathered(&self, _: Gathered, _: Joined<Count>, _: &mut Facts, _: &StepContext) -> StepResult<Gathered> {
        Ok(goto(Timed))
    }
    async fn timed(&self, _: Timed, _: &mut Facts, _: &StepContext) -> StepResult<Timed> {
        Ok(goto(Ended))
    }
    async fn ended(&self, _: Ended, carry: &mut Facts, _: &StepContext) -> StepResult<Ended> {
        Ok(done(carry.runs))
    }
}

/// A job.
#[durable_job(queue = "counts", key(number))]
pub(crate) async fn count(_: &Hands, number: u64, cx: &StepContext) -> Result<u64, StepError> {
    cx.cancelled().await;
    Ok(number)
}

/// Served elsewhere.
#[durable_fsm]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elsewhere {
    /// The only step.
    #[step(start, done)]
    Here,
}
impl ElsewhereSteps for Hands {
    async fn here(&self, _: Here, _: &StepContext) -> StepResult<Here> {
        Ok(done(()))
    }
}
gen_durable::register!(Elsewhere => Hands);

#[test]
fn it_compiles_without_a_warning() {
    assert_eq!(Strict::INFO.steps.len(), 8_usize);
}
