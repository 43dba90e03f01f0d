//! `kill -9` at random moments.

use std::time::{Duration, Instant};

use gen_durable::{Client, Handle, InstanceId, start};
use suite::{WorkerOptions, WorkerProcess, is_long, size};

use super::{
    machines::{Go, Prepare, Run, Visits},
    place::Place,
};

/// Steps of a `Work`; rounds of a `Visits`, each ended by a signal.
const STEPS: u32 = 3;
const ROUNDS: u32 = 2;

fn kills() -> usize {
    if is_long() { 200 } else { 20 }
}

/// Nine in ten run some steps, one in ten is told to go on by signals.
async fn feed(client: &Client, from: usize, to: usize) -> Vec<InstanceId> {
    let mut ids = Vec::new();
    let work = (from..to).filter(|n| n % 10 != 0).map(|_| start(Run { millis: 1, steps: STEPS }));
    ids.extend(client.start_many(work).await.expect("starts").into_iter().map(gen_durable::Started::id));
    let visits = (from..to).filter(|n| n % 10 == 0);
    let visits = visits.map(|n| start(Prepare { name: u64::try_from(n).expect("small"), millis: 1, rounds: ROUNDS }));
    let parked = client.start_many(visits).await.expect("starts");
    for visit in parked.iter().map(|s| client.by_id::<Visits>(s.id())) {
        tell(&visit).await;
        ids.extend(visit.id());
    }
    ids
}

/// Each twice: the second one is known by its key.
async fn tell(visit: &Handle<Visits>) {
    for n in 1..=ROUNDS {
        for _ in 0..2 {
            let told = visit.signal(Go { n }).dedup(format!("go {n}")).await;
            // It may have ended by the first of two.
            assert!(told.as_ref().err().is_none_or(gen_durable::Error::is_no_target), "{told:?}");
        }
    }
}

/// Kills one worker after another at a random moment of its life, from its first instant on.
async fn kill_while_feeding(place: &Place, worker: &WorkerOptions, all: usize) -> Vec<InstanceId> {
    let client = place.client();
    let (kills, mut ids) = (kills(), Vec::with_capacity(all));
    for n in 0..kills {
        let mut victim: WorkerProcess = worker.launch();
        let life = Instant::now() + Duration::from_micros(rand::random_range(0..400_000));
        ids.extend(feed(&client, all * n / kills, all * (n + 1) / kills).await);
        tokio::time::sleep_until(life.into()).await;
        victim.kill().await;
    }
    client.close().await;
    ids
}

/// What must be true of every instance once nothing is due.
async fn nothing_lost(place: &Place, ids: &[InstanceId]) {
    let visits = "SELECT count(*) FROM gen_durable WHERE fsm = 'visits'";
    let visits = u32::try_from(place.count(visits).await).expect("small");
    place.none_due(Duration::from_secs(if is_long() { 300 } else { 60 })).await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    assert_eq!(place.count(done).await, i64::try_from(ids.len()).expect("small"), "all, and no more");
    // The sum of what each heard: 1 + 2, whatever was sent twice and whoever died in between.
    let right = "SELECT count(*) FROM gen_durable WHERE CASE fsm WHEN 'work' THEN result = '1' AND transitions = 3
                 ELSE result = '3' AND transitions = 3 END";
    assert_eq!(
        place.count(right).await,
        i64::try_from(ids.len()).expect("small"),
        "each with its result, step by step"
    );
    assert_eq!(place.count("SELECT count(*) FROM signals").await, 0, "the inbox went with its instance");
    let ran = place.effects_by("SELECT count(DISTINCT instance || step) FROM effects").await;
    let expected = ids.len() - visits as usize + 2 * visits as usize;
    assert_eq!(ran, i64::try_from(expected).expect("small"), "no step was skipped");
    let (runs, steps) = (place.effects().await, i64::try_from(ids.len() * 3).expect("small"));
    assert!(runs >= steps, "{runs} runs of {steps} steps");
    println!("{} kills, {} instances: {} runs more than steps", kills(), ids.len(), runs - steps);
    place.is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_again_and_again_loses_nothing() {
    let place = Place::migrated().await;
    let ids = kill_while_feeding(&place, &place.worker(), size(20_000)).await;
    let _last = place.worker().spawn().await;
    nothing_lost(&place, &ids).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_neighbour_is_killed_again_and_again_loses_nothing() {
    let place = Place::migrated().await;
    let steady = place.worker().spawn().await;
    let ids = kill_while_feeding(&place, &place.worker(), size(20_000)).await;
    nothing_lost(&place, &ids).await;
    assert_eq!(steady.logged(" ERROR "), 0, "{:?}", steady.log());
}
