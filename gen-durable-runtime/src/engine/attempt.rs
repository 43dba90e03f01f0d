//! One run of a handler: its panics, its limit, its being dropped.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;

use super::{catalog::Served, children::Round, executor::ClaimedAt, held::Held};
use crate::{
    machine::{
        ContextParts, StepContext, StepError, StepInfo,
        registry::{Ran, Run},
    },
    model::{Claim, Failure, FailureKind},
    store::Store,
};

/// One run of the handler; `None` when it was told to be dropped: the claim was lost, or the worker stops.
pub(super) async fn run(
    store: &Arc<dyn Store>,
    served: &Served,
    step: &'static StepInfo,
    claim: &Claim,
    held: &Held,
    at: ClaimedAt,
) -> Option<Result<Ran, Failure>> {
    let context = StepContext::new(ContextParts {
        id: claim.id,
        attempt: claim.attempt,
        transitions: claim.transitions,
        database_now: at.database_time(Instant::now()),
        cancel: held.cancel.clone(),
    });
    let context = if at.stands { context.standing() } else { context };
    let (state, carry, wake) = (claim.state.clone(), claim.carry.clone(), claim.wake.clone());
    let input = Run { step: step.name, state, carry, wake, context };
    let handler = Arc::clone(&served.handler);
    let future = async {
        let input = match step.join {
            Some(_) => Run { context: input.context.with_children(Arc::new(Round::of(store, claim).await?)), ..input },
            None => input,
        };
        (served.run)(handler, input).await
    };
    let future = AssertUnwindSafe(future).catch_unwind();
    tokio::select! {
        ran = future => Some(match ran {
            Ok(ran) => ran.map_err(StepError::into_failure),
            Err(panic) => Err(Failure::panicked(&*panic)),
        }),
        () = held.dropped.fired() => None,
        limit = limit(step.run_timeout) => Some(Err(Failure {
            kind: FailureKind::RunTimeout,
            error: format!("ran longer than its run_timeout of {limit:?}"),
            permanent: false,
        })),
    }
}

async fn limit(run_timeout: Option<Duration>) -> Duration {
    match run_timeout {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}
