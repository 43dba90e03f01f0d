//! Signals before, during and after each park, while workers are killed.

use std::time::{Duration, Instant};

use gen_durable::{Client, Handle, start};
use rand::RngExt as _;
use suite::{Db, Oracle, eventually, is_long, size};

use crate::{
    client, ids,
    kills::Killing,
    machines::{Go, Prepare, Visits},
    worker,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        nobody_stays_parked_with_its_signal_and_resumes_equal_signals_under_kills,
    }
}

/// Parks of each instance.
const ROUNDS: u32 = 5;

const UNHEARD: &str = "SELECT count(*) FROM gen_durable g JOIN signals s ON s.target_id = g.id
    WHERE g.status = 'awaiting_signal' AND s.consumed_at IS NULL AND s.name = ANY (g.awaits)";

/// When it is sent, beside the park that it ends.
#[derive(Clone, Copy)]
enum When {
    Before,
    Around,
    After,
}

/// Its number in the sum that the instance ends with is a bit: each was heard, and none twice. Where hundreds stand in line
/// for a file a call may take too long; its key tells whether it arrived all the same.
async fn send(visits: &Handle<Visits>, round: u32) {
    for nth in 0.. {
        match visits.signal(Go { n: 1 << round }).dedup(format!("round {round}")).await {
            Ok(receipt) => return assert!(!receipt.duplicate || nth > 0, "it was sent once"),
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
}

async fn tell(client: Client, name: u64, when: When) {
    let visits = client.of::<Visits>(name);
    for round in 0..ROUNDS {
        let most = match when {
            When::Before => 0,
            When::Around => 5_000,
            When::After => {
                visits.wait_parked().timeout(Duration::from_secs(120)).await.expect("it parks");
                if is_long() { 4_000_000 } else { 200_000 }
            }
        };
        let pause = Duration::from_micros(rand::rng().random_range(0..=most));
        tokio::time::sleep(pause).await;
        send(&visits, round).await;
    }
}

async fn nobody_stays_parked_with_its_signal_and_resumes_equal_signals_under_kills(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let instances = size(2_000) as u64;
    let every = if is_long() { 2_000..2_001 } else { 300..900 };
    let workers = Killing::begin(worker(&db), every).await;
    let began = Instant::now();
    let prepare = |name| start(Prepare { name, millis: name % 7, rounds: ROUNDS });
    let started = client.start_many((0..instances).map(prepare)).await.expect("starts");
    let when = |name: u64| [When::Before, When::Around, When::After][usize::try_from(name % 3).expect("small")];
    let telling = (0..instances).map(|name| tokio::spawn(tell(client.clone(), name, when(name))));
    for told in telling.collect::<Vec<_>>() {
        told.await.expect("no panic");
    }
    let (signals, sent) = (instances * u64::from(ROUNDS), began.elapsed());
    // 2 s, and as much for a busy machine.
    let heard = eventually("nobody stays parked with its signal", Duration::from_secs(4), async || {
        db.count(UNHEARD).await == 0
    })
    .await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    let all = i64::try_from(instances).expect("small");
    let within = Duration::from_secs(if is_long() { 120 } else { 60 });
    eventually("all have ended", within, async || db.count(done).await == all).await;
    let ended = began.elapsed();
    // A worker stays for what the oracle waits for.
    let _last = worker(&db).spawn().await;
    let kills = workers.end().await;
    let sum = (1_u32 << ROUNDS) - 1;
    let right = format!("SELECT count(*) FROM gen_durable WHERE result = '{sum}' AND transitions = {ROUNDS} + 1");
    assert_eq!(db.count(right).await, all, "each heard each of its signals once");
    let resumes = "SELECT count(*) FROM gen_durable_history WHERE from_step = 'listen' AND outcome <> 'retry'";
    assert_eq!(db.count(resumes).await, i64::try_from(signals).expect("small"), "as many resumes as signals");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
    Oracle::of(&db).check(&ids(&started)).await;
    assert!(kills >= 3, "{kills} kills: too fast to try anything");
    let runs = db.count("SELECT count(*) FROM effects WHERE step = 'listen'").await;
    eprintln!(
        "{}: {instances} instances, {signals} signals and as many resumes in {runs} runs, {kills} kills; sent after \
         {sent:?}, none unheard {heard:?} later, all ended after {ended:?}",
        db.store.dialect()
    );
}
