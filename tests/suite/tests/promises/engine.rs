//! The engine, with real machines in this process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use gen_durable::{Client, Failed, RunningWorker, WaitError, prelude::*};
use serde::{Deserialize, Serialize};
use suite::Db;

suite::stores! {
    both {
        a_machine_runs_to_its_typed_result,
        timeouts_and_timers_fire_on_time_and_never_early,
        a_panicking_or_failing_step_retries_then_catches_with_a_readable_error,
        a_thousand_instances_all_end,
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Go {
    pub n: u32,
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Halt {}

/// Counts down in place, waits, ends.
#[durable_fsm(output(u32), handler(Hands))]
pub enum Trip {
    #[step(start, key(trip), next(Count, Hold, Nap))]
    Begin { trip: u64, count: u32 },
    #[step(next(Count, Hold))]
    Count { left: u32, sum: u32 },
    #[step(await(Go, Halt), timeout = "300ms", done, fail)]
    Hold { sum: u32 },
    #[step(timeout(long), done)]
    Nap { long: Duration },
}

/// Fails as told.
#[durable_fsm(output(String), handler(Hands))]
pub enum Stumble {
    #[step(start, retry(attempts = 3, backoff = "10ms"), catch(Mend), done, run_timeout = "200ms")]
    Try { how: String },
    #[step(done)]
    Mend { error: String, attempts: u32 },
}

impl From<Failed<Try>> for Mend {
    fn from(failed: Failed<Try>) -> Self {
        assert!(failed.step.how != "catch panics", "the catch panics too");
        Mend { error: failed.error, attempts: failed.attempts }
    }
}

#[derive(Default)]
pub struct Hands {
    runs: Arc<AtomicUsize>,
}

impl TripSteps for Hands {
    async fn begin(&self, step: Begin, _cx: &StepContext) -> StepResult<Begin> {
        Ok(match step.count {
            0 => goto(Hold { sum: 0 }),
            1_000.. => goto(Nap { long: Duration::from_millis(step.count.into()) }),
            left => goto(Count { left, sum: 0 }),
        })
    }
    async fn count(&self, step: Count, _cx: &StepContext) -> StepResult<Count> {
        let Count { left, sum } = step;
        Ok(if left == 0 { goto(Hold { sum }) } else { goto(Count { left: left - 1, sum: sum + left }) })
    }
    async fn hold(&self, step: Hold, signal: Result<HoldSignal, TimedOut>, _cx: &StepContext) -> StepResult<Hold> {
        Ok(match signal {
            Ok(HoldSignal::Go(go)) => done(step.sum + go.n),
            Ok(HoldSignal::Halt(_)) => fail("halted"),
            Err(TimedOut) => done(step.sum),
        })
    }
    async fn nap(&self, _step: Nap, _cx: &StepContext) -> StepResult<Nap> {
        Ok(done(0))
    }
}

impl StumbleSteps for Hands {
    async fn try_(&self, step: Try, cx: &StepContext) -> StepResult<Try> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        match step.how.as_str() {
            "panic" | "catch panics" => panic!("x of {}", step.how),
            "panic any" => std::panic::panic_any(42),
            "index" => return Ok(done(step.how[..99].to_owned())),
            "joined" => tokio::spawn(async { panic!("in a task") }).await?,
            "slow" => tokio::time::sleep(Duration::from_secs(60)).await,
            "once" if cx.attempt() == 0 => return Err("first time".into()),
            "once" => {}
            "permanent" => Err::<(), _>("for good").permanent()?,
            "nul" => return Ok(done("a\0b".into())),
            other => return Err(other.to_owned().into()),
        }
        Ok(done(cx.idempotency_key()))
    }
    async fn mend(&self, step: Mend, _cx: &StepContext) -> StepResult<Mend> {
        Ok(done(format!("{} after {}", step.error, step.attempts)))
    }
}

async fn worker(db: &Db, hands: Hands) -> (Client, RunningWorker) {
    let client = Client::options(&db.url).pool_size(6).connect().await.expect("connects");
    let worker = Worker::new(client.clone()).handler(hands).leave_unserved().drain(Duration::from_secs(2));
    (client, worker.start().await.expect("starts"))
}

async fn a_machine_runs_to_its_typed_result(db: Db) {
    let (client, worker) = worker(&db, Hands::default()).await;
    let trip = client.start(start(Begin { trip: 1, count: 4 })).await.expect("starts");
    assert!(trip.is_new());
    let again = client.start(start(Begin { trip: 1, count: 4 })).await.expect("answers");
    assert!(!again.is_new());
    assert_eq!(again.id(), trip.id());
    let by_key = client.of::<Trip>(1u64);
    while !matches!(by_key.get().await.expect("there"), Trip::Hold { sum: 10 }) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    by_key.signal(Go { n: 5 }).await.expect("delivers");
    assert_eq!(trip.wait().await.expect("ends"), 15);
    assert!(by_key.signal(Go { n: 5 }).await.expect_err("ended").is_no_target());
    worker.stop().await;
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
}

async fn timeouts_and_timers_fire_on_time_and_never_early(db: Db) {
    let client = Client::options(&db.url).pool_size(6).connect().await.expect("connects");
    // The poll is a minute away: only a due moment that is known can have fired it.
    let worker = Worker::new(client.clone()).handler(Hands::default()).leave_unserved().poll(Duration::from_secs(60));
    let worker = worker.start().await.expect("starts");
    let begin = |trip, count| start(Begin { trip, count });
    let timed_out = client.start(begin(1, 0)).await.expect("starts");
    let nap = client.start(begin(2, 1_000)).await.expect("starts");
    let late = client.start(begin(3, 0).delay(Duration::from_millis(400))).await.expect("starts");
    for (trip, due_ms) in [(timed_out, 300), (nap, 1_000), (late, 700)] {
        trip.wait().await.expect("ends");
        let sql = "SELECT CAST(extract(epoch FROM updated_at - inserted_at) * 1000 AS bigint) FROM gen_durable
            WHERE id = ANY ($1)";
        let took = db.count_of(sql, &[trip.id().expect("known")]).await;
        // Promised within 100 ms; the rest is for a machine that builds beside.
        assert!((due_ms..due_ms + 1_500).contains(&took), "{took} ms instead of {due_ms}");
    }
    worker.stop().await;
}

async fn a_panicking_or_failing_step_retries_then_catches_with_a_readable_error(db: Db) {
    let (client, worker) = worker(&db, Hands::default()).await;
    let cases = [
        ("panic", "panicked: x of panic after 3"),
        ("panic any", "panicked with a value that is no text after 3"),
        ("boom", "boom after 3"),
        ("permanent", "for good after 1"),
        ("slow", "ran longer than its run_timeout of 200ms after 3"),
        ("nul", "result contains a NUL character after 3"),
    ];
    for (how, result) in cases {
        let stumble = client.start(start(Try { how: how.into() })).await.expect("starts");
        assert_eq!(stumble.wait().await.expect("ends"), result, "{how}");
    }
    for (how, part) in [("index", "panicked: "), ("joined", "panicked")] {
        let stumble = client.start(start(Try { how: how.into() })).await.expect("starts");
        let result = stumble.wait().await.expect("ends");
        assert!(result.contains(part) && result.ends_with("after 3"), "{result}");
    }
    let once = client.start(start(Try { how: "once".into() })).await.expect("starts");
    let key = once.wait().await.expect("ends");
    assert_eq!(key, format!("{}-0", once.id().expect("known")), "one key over all attempts");
    let stumble = client.start(start(Try { how: "catch panics".into() })).await.expect("starts");
    let Err(WaitError::Failed { reason, .. }) = stumble.wait().await else { panic!("it fails") };
    assert!(reason.contains("its catch failed: panicked: the catch panics too"), "{reason}");
    worker.stop().await;
}

async fn a_thousand_instances_all_end(db: Db) {
    let (client, worker) = worker(&db, Hands::default()).await;
    let starts = (0..1_000).map(|trip| start(Begin { trip, count: 3 }));
    let started = client.start_many(starts).await.expect("starts");
    assert!(started.iter().all(|s| s.is_new()));
    let signals = (0..1_000u64).map(|trip| client.of::<Trip>(trip).signal(Go { n: 1 }));
    let delivered = client.signal_many(signals).await.expect("delivers");
    assert_eq!(delivered.len(), 1_000);
    for s in &started {
        assert_eq!(client.by_id::<Trip>(s.id()).wait().await.expect("ends"), 7);
    }
    worker.stop().await;
}
