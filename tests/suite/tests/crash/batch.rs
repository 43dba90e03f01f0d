//! One row of a claimed batch cannot be started: the others do not notice.

use std::time::{Duration, Instant};

use gen_durable::{InstanceId, Started, start};
use suite::{Db, eventually, nothing_lost};

use super::{client, worker};
use crate::machines::{Act, Run, Then};

suite::stores! {
    both {
        a_state_that_does_not_decode_fails_alone,
        a_null_for_a_state_fails_alone,
        an_array_for_a_state_fails_alone,
        an_unknown_step_is_left_for_a_worker_that_knows_it,
        an_unknown_machine_is_left_for_a_worker_that_knows_it,
        an_unknown_version_is_left_for_a_worker_that_knows_it,
        a_payload_that_does_not_decode_fails_alone,
        an_error_at_the_highest_attempt_is_caught,
        a_retry_at_the_highest_attempt_goes_on,
        a_crash_beyond_the_highest_count_fails_alone,
    }
}

/// What becomes of the bad row, within seconds.
#[derive(Clone, Copy)]
enum Rule {
    /// It ends as failed, with this in its reason.
    Fails(&'static str),
    /// Its catch runs, with this in its error.
    Caught(&'static str),
    /// Left for a worker that knows it.
    Left,
    /// Runs again and again.
    GoesOn,
}

/// 49 healthy rows and one that `spoil` makes bad, in one claim under a lease of 60 s.
async fn one_bad_row(db: Db, spoil: &str, then: Then, rule: Rule) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let bad = client.start(start(Act { then, millis: 0 }).priority(-1)).await.expect("starts").id().expect("known");
    let healthy = client.start_many((0..49).map(|_| start(Run { millis: 5, steps: 1 }))).await.expect("starts");
    db.run(spoil.replace("$1", &bad.to_string())).await;
    let process = worker(&db).concurrency(50).lease(Duration::from_secs(60)).spawn().await;
    let began = Instant::now();
    let ended = "SELECT count(*) FROM gen_durable WHERE fsm = 'work' AND status = 'done'";
    eventually("the healthy end", Duration::from_secs(3), async || db.count(ended).await == 49).await;
    let row = "SELECT format('%s %s', status, coalesce(result::text, last_error)) FROM gen_durable ORDER BY id LIMIT 1";
    let is_settled = async || match rule {
        Rule::Fails(reason) => {
            let row = db.text(row).await;
            row.starts_with("failed ") && row.contains(reason)
        }
        Rule::Caught(error) => {
            let row = db.text(row).await;
            row.starts_with("done ") && row.contains(error)
        }
        Rule::GoesOn => db.count("SELECT count(*) FROM effects WHERE step = 'act'").await > 5,
        Rule::Left => began.elapsed() > Duration::from_secs(1) && db.text(row).await.starts_with("runnable"),
    };
    eventually("the bad row is settled", Duration::from_secs(5), is_settled).await;
    assert_eq!(process.logged("panicked at"), 0);
    if matches!(rule, Rule::Left | Rule::GoesOn) {
        db.run(format!("DELETE FROM gen_durable WHERE id = {bad}")).await;
    }
    let ids: Vec<InstanceId> = healthy.into_iter().map(Started::id).collect();
    nothing_lost(&db, &ids).await;
}

/// O-32.
async fn a_state_that_does_not_decode_fails_alone(db: Db) {
    let spoil = r#"UPDATE gen_durable SET state = '{"then": "Nonsense", "millis": 0}' WHERE id = $1"#;
    one_bad_row(db, spoil, Then::Done, Rule::Fails("does not decode")).await;
}

/// O-32.
async fn a_null_for_a_state_fails_alone(db: Db) {
    one_bad_row(db, "UPDATE gen_durable SET state = 'null' WHERE id = $1", Then::Done, Rule::Fails("does not decode"))
        .await;
}

/// O-32.
async fn an_array_for_a_state_fails_alone(db: Db) {
    one_bad_row(db, "UPDATE gen_durable SET state = '[1]' WHERE id = $1", Then::Done, Rule::Fails("does not decode"))
        .await;
}

/// O-32.
async fn an_unknown_step_is_left_for_a_worker_that_knows_it(db: Db) {
    one_bad_row(db, "UPDATE gen_durable SET step = 'later' WHERE id = $1", Then::Done, Rule::Left).await;
}

/// O-32.
async fn an_unknown_machine_is_left_for_a_worker_that_knows_it(db: Db) {
    one_bad_row(db, "UPDATE gen_durable SET fsm = 'other' WHERE id = $1", Then::Done, Rule::Left).await;
}

/// O-32.
async fn an_unknown_version_is_left_for_a_worker_that_knows_it(db: Db) {
    one_bad_row(db, "UPDATE gen_durable SET fsm_version = 9 WHERE id = $1", Then::Done, Rule::Left).await;
}

/// O-32.
async fn a_payload_that_does_not_decode_fails_alone(db: Db) {
    let spoil = r#"INSERT INTO signals (target_id, name, payload) VALUES ($1, 'go', '{"n": "x"}');
        UPDATE gen_durable SET step = 'hold', awaits = '{go}', state = '{"note": ""}' WHERE id = $1"#;
    one_bad_row(db, spoil, Then::Done, Rule::Fails("does not decode")).await;
}

/// O-32: counters stop at the end of their type; the error is one like any other.
async fn an_error_at_the_highest_attempt_is_caught(db: Db) {
    let spoil = "UPDATE gen_durable SET attempt = 2147483647 WHERE id = $1";
    one_bad_row(db, spoil, Then::Error, Rule::Caught("told to err after")).await;
}

/// O-32: `retry_in` has no bound.
async fn a_retry_at_the_highest_attempt_goes_on(db: Db) {
    let spoil = "UPDATE gen_durable SET attempt = 2147483647 WHERE id = $1";
    one_bad_row(db, spoil, Then::Again, Rule::GoesOn).await;
}

/// O-32: a row that crashed as often as can be counted does not stop the sweep that takes back the others. Beyond its
/// limit its `catch` is not run either: that may be what kills the process.
async fn a_crash_beyond_the_highest_count_fails_alone(db: Db) {
    let spoil = "UPDATE gen_durable SET crashes = 2147483647, status = 'executing', locked_by = 'gone#1',
        lease_expires_at = now() WHERE id = $1";
    one_bad_row(db, spoil, Then::Done, Rule::Fails("crashed 2147483647 times")).await;
}
