//! The answer to a commit is lost: the worker cannot know whether it landed, and asks again.

use std::time::{Duration, Instant};

use gen_durable::start;
use suite::{Db, Wire, WorkerProcess, eventually, nothing_lost};

use super::{client, worker};
use crate::machines::{Act, Go, Then};

suite::stores! {
    postgres {
        a_goto_whose_answer_was_lost_is_told_by_its_fence_and_goes_on_in_place => "no answer is lost on the way out of a call in this process",
        a_done_whose_statement_was_answered_to_nobody_is_written_once => "no answer is lost on the way out of a call in this process",
        a_done_whose_commit_was_answered_to_nobody_is_written_once => "no answer is lost on the way out of a call in this process",
        a_park_whose_statement_was_answered_to_nobody_is_parked_once => "no answer is lost on the way out of a call in this process",
        a_park_whose_commit_was_answered_to_nobody_is_parked_once => "no answer is lost on the way out of a call in this process",
        a_retry_whose_answer_was_lost_counts_one_attempt => "no answer is lost on the way out of a call in this process",
        a_claim_whose_answer_was_lost_comes_back_with_its_lease => "no answer is lost on the way out of a call in this process",
    }
}

/// A worker whose answers to requests with this text are lost, so many times.
async fn lossy(db: &Db, text: &str, times: usize) -> (Wire, WorkerProcess) {
    let wire = Wire::to(db).await;
    let process = worker(db).url(wire.url()).spawn().await;
    wire.lose_answers_to(text, times);
    (wire, process)
}

const STORY: &str = "SELECT coalesce(string_agg(step || attempt, ' ' ORDER BY at), '') FROM effects";
const COUNTS: &str = "SELECT format('%s %s %s', status, transitions, crashes) FROM gen_durable";

/// What one instance did, and what became of it, when the answers to `text` were lost `times` times.
async fn told(db: Db, then: Then, text: &str, times: usize, result: &str, story: &str, counts: &str) {
    let db = db.with_effects().await;
    let (wire, mut process) = lossy(&db, text, times).await;
    let task = client(&db).await.start(start(Act { then, millis: 0 })).await.expect("starts");
    if then == Then::Park {
        let parked = async || db.text(COUNTS).await.starts_with("awaiting_signal");
        eventually("it is parked", Duration::from_secs(5), parked).await;
        task.signal(Go { n: 7 }).await.expect("delivers");
    }
    let ended = task.wait().timeout(Duration::from_secs(10)).await.expect("it ends");
    assert_eq!(ended, result);
    eventually("the losses came", Duration::from_secs(2), async || wire.losses() == times).await;
    nothing_lost(&db, &[task.id().expect("known")]).await;
    assert_eq!(db.text(STORY).await, story, "each visit ran as often as without a loss");
    assert_eq!(db.text(COUNTS).await, counts);
    process.terminate();
    assert!(process.exit(Duration::from_secs(10)).await.success());
    // Once the row is woken and claimed again, the first claim cannot know that its park had landed.
    assert!(process.logged("claim lost") <= usize::from(then == Then::Park), "{:?}", process.log());
}

/// O-47, O-49 and the fence: our token with one transition more means that it landed.
#[cfg(feature = "postgres")]
async fn a_goto_whose_answer_was_lost_is_told_by_its_fence_and_goes_on_in_place(db: Db) {
    told(db, Then::Goto, "from act", 2, "from act", "act0 onward0", "done 2 0").await;
}

/// The end of a machine that awaits signals takes a transaction, as a park does: lost before its end here,
#[cfg(feature = "postgres")]
async fn a_done_whose_statement_was_answered_to_nobody_is_written_once(db: Db) {
    told(db, Then::Done, "from act", 1, "from act", "act0", "done 1 0").await;
}

/// and at its end here.
#[cfg(feature = "postgres")]
async fn a_done_whose_commit_was_answered_to_nobody_is_written_once(db: Db) {
    told(db, Then::Done, "COMMIT", 1, "from act", "act0", "done 1 0").await;
}

/// Lost before the end of its transaction here,
#[cfg(feature = "postgres")]
async fn a_park_whose_statement_was_answered_to_nobody_is_parked_once(db: Db) {
    told(db, Then::Park, "from act", 2, "from act 7", "act0 hold0", "done 2 0").await;
}

/// and at its end here.
#[cfg(feature = "postgres")]
async fn a_park_whose_commit_was_answered_to_nobody_is_parked_once(db: Db) {
    told(db, Then::Park, "COMMIT", 2, "from act 7", "act0 hold0", "done 2 0").await;
}

/// A retry changes no transition: the attempts tell that it landed.
#[cfg(feature = "postgres")]
async fn a_retry_whose_answer_was_lost_counts_one_attempt(db: Db) {
    let db = db.with_effects().await;
    let (wire, _process) = lossy(&db, "told to err", 2).await;
    let task = client(&db).await.start(start(Act { then: Then::Error, millis: 0 })).await.expect("starts");
    let ended = task.wait().timeout(Duration::from_secs(10)).await.expect("it ends");
    assert_eq!((ended.as_str(), wire.losses()), ("told to err after 3", 2));
    nothing_lost(&db, &[task.id().expect("known")]).await;
    assert_eq!(db.text(STORY).await, "act0 act1 act2 mend0");
}

/// A claim whose answer was lost is nobody's: its rows come back with the lease, and count as crashed once.
#[cfg(feature = "postgres")]
async fn a_claim_whose_answer_was_lost_comes_back_with_its_lease(db: Db) {
    let db = db.with_effects().await;
    let task = client(&db).await.start(start(Act { then: Then::Goto, millis: 0 })).await.expect("starts");
    let wire = Wire::to(&db).await;
    // Only claims and commits have a token; the first claim finds the instance.
    wire.lose_answers_to("#0", 1);
    let process = worker(&db).url(wire.url()).spawn().await;
    let began = Instant::now();
    task.wait().timeout(Duration::from_secs(10)).await.expect("it ends");
    let took = began.elapsed();
    nothing_lost(&db, &[task.id().expect("known")]).await;
    assert_eq!((wire.losses(), db.text(STORY).await.as_str()), (1, "act0 onward0"));
    // 2 s of lease, 0.5 s to the sweep, 0.2 s to the poll, and 2 s for a busy machine.
    assert!(took > Duration::from_millis(1_500) && took < Duration::from_millis(4_700), "{took:?}");
    assert_eq!(process.logged("claim failed, trying again"), 1);
}
