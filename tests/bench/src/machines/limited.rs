use gen_durable::prelude::*;

use super::Limited;

/// More than ever execute at once.
#[derive(ConcurrencyKey)]
#[concurrency(limit = 100_000, shards = 8)]
pub struct Gate;

/// More than ever start.
#[derive(RateLimit)]
#[rate_limit(allowed = 10_000_000, per = "1s", burst = 10_000_000)]
pub struct Idle;

/// What the tight limit allows in a second.
pub const RATE: u32 = 10_000;

#[derive(RateLimit)]
#[rate_limit(allowed = 10_000, per = "1s", burst = 1_000)]
pub struct Tight;

#[durable_fsm(handler(Limited))]
pub enum Gated {
    #[step(start, concurrency(Gate), done)]
    Watched {},
}

#[durable_fsm(handler(Limited))]
pub enum Rated {
    #[step(start, rate_limit(Idle), done)]
    Metered {},
    #[step(start, rate_limit(Tight), done)]
    Throttled {},
    /// Under no limit, though its machine has some.
    #[step(start, done)]
    Free {},
}

impl GatedSteps for Limited {
    async fn watched(&self, _: Watched, cx: &StepContext) -> StepResult<Watched> {
        self.0.end(cx);
        Ok(done(()))
    }
}

impl RatedSteps for Limited {
    async fn metered(&self, _: Metered, cx: &StepContext) -> StepResult<Metered> {
        self.0.end(cx);
        Ok(done(()))
    }

    async fn throttled(&self, _: Throttled, cx: &StepContext) -> StepResult<Throttled> {
        self.0.end(cx);
        Ok(done(()))
    }

    async fn free(&self, _: Free, cx: &StepContext) -> StepResult<Free> {
        self.0.end(cx);
        Ok(done(()))
    }
}
