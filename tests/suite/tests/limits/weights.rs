//! What can never pass is refused where it is made.

use std::time::Duration;

use gen_durable::{Status, prelude::*, start};
use suite::{Db, eventually};

use crate::{Drip, Hands, Plain, Slow, Work};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_weight_that_can_never_pass_is_refused_at_the_start_and_is_an_error_of_the_step_that_made_it,
        rows_whose_limit_is_taken_away_say_so_and_go_on_when_it_is_back,
    }
}

const LONG: Duration = Duration::from_secs(30);

/// Takes as many tokens as it is told; a bucket of `Slow` holds five.
#[durable_fsm(output(u64), handler(Hands), retry(attempts = 2, backoff = "10ms"))]
pub enum Heavy {
    #[step(start, next(Lift))]
    Weigh { n: u64, weight: u64 },
    #[step(start, rate_limit(Slow, by(n), weight(weight)), done)]
    Lift { n: u64, weight: u64 },
}

impl HeavySteps for Hands {
    async fn weigh(&self, step: Weigh, _: &StepContext) -> StepResult<Weigh> {
        Ok(goto(Lift { n: step.n, weight: step.weight }))
    }

    async fn lift(&self, step: Lift, _: &StepContext) -> StepResult<Lift> {
        Ok(done(step.n))
    }
}

/// O-30.
async fn a_weight_that_can_never_pass_is_refused_at_the_start_and_is_an_error_of_the_step_that_made_it(db: Db) {
    let work = Work::on(&db).await;
    let refused = work.client.start(start(Lift { n: 1, weight: 6 })).await.expect_err("five at most");
    assert!(refused.is_invalid() && refused.to_string().contains("weight"), "{refused}");
    let many = work.client.start_many([start(Lift { n: 1, weight: 5 }), start(Lift { n: 1, weight: 6 })]).await;
    assert!(many.expect_err("as a whole").is_invalid());
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 0, "nobody was started");
    let late = work.client.start(start(Weigh { n: 1, weight: 6 })).await.expect("starts");
    let fits = work.client.start(start(Weigh { n: 1, weight: 5 })).await.expect("starts");
    assert_eq!(fits.wait().timeout(LONG).await.expect("five are there"), 1);
    let failed = late.wait().timeout(LONG).await.expect_err("it can never pass");
    assert!(failed.to_string().contains("weight"), "{failed}");
    assert_eq!(late.show().await.expect("stands").status, Status::Failed);
    work.stop().await;
}

/// O-30: the others flow meanwhile.
async fn rows_whose_limit_is_taken_away_say_so_and_go_on_when_it_is_back(db: Db) {
    let work = Work::on(&db).await;
    db.run("DELETE FROM gen_durable_bucket_configs WHERE name = 'slow'").await;
    work.client.start_many((0..3).map(|n| Drip::start(1, n))).await.expect("starts");
    work.client.start(Plain::start(9)).await.expect("starts").wait().timeout(LONG).await.expect("flows");
    let said = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'limit:slow' AND status = 'runnable'";
    eventually("they say so", LONG, async || db.count(said).await == 3).await;
    work.stop().await;
    // The boot of a worker that knows it makes it known again.
    let work = Work::on(&db).await;
    let done = "SELECT count(*) FROM gen_durable WHERE fsm = 'drip' AND status = 'done'";
    eventually("all go on", LONG, async || db.count(done).await == 3).await;
    work.stop().await;
}
