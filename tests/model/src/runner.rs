//! Runs histories until one fails, and shrinks that one.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::{
    database::Database,
    driver::{Answer, Call, Driver},
    history::{Mix, Step, history, play},
};

/// Steps a history has at most.
const STEPS: usize = 120;

/// How long a failed history may be shrunk, by its values and then by its steps.
const SHRINK: Duration = Duration::from_secs(30);
const SHRINK_MS: u32 = 30_000;

/// What happened in all histories, counted.
pub type Seen = BTreeMap<String, u32>;

/// Plays so many histories on every store; ten times more when `GEN_DURABLE_LONG` is set. `GEN_DURABLE_SEED` plays those of an
/// earlier run again.
///
/// # Panics
/// When a store does not agree with the model: with the seed and the shrunk history.
pub fn run(mix: Mix, histories: u32) -> Seen {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let databases = runtime.block_on(Database::all());
    let is_long = std::env::var("GEN_DURABLE_LONG").is_ok_and(|long| long == "1");
    let cases = if is_long { histories * 10 } else { histories };
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: SHRINK_MS,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let seed = seed();
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed_bytes(seed)));
    let seen = std::cell::RefCell::new(Seen::new());
    let once = |steps: &[Step]| {
        runtime.block_on(async {
            let mut driver = Driver::new(&databases).await;
            let mut saw = |call: &Call, answer: &Answer| note(&mut seen.borrow_mut(), call, answer);
            let played = play(&mut driver, steps, &mut saw).await;
            let mut seen = seen.borrow_mut();
            driver.model.seen.iter().for_each(|(what, n)| *seen.entry((*what).to_owned()).or_default() += n);
            played.map_err(|what| (driver.trace.clone(), what))
        })
    };
    let outcome = runner.run(&history(mix, STEPS), |steps| once(&steps).map_err(|(_, what)| TestCaseError::fail(what)));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(_, steps)) => {
            let steps = without_idle(steps, |steps| once(steps).is_err());
            panic!("GEN_DURABLE_SEED={seed}\n{}", story(once(&steps)))
        }
        Err(TestError::Abort(reason)) => panic!("GEN_DURABLE_SEED={seed}: {reason}"),
    }
    runtime.block_on(async {
        for database in &databases {
            database.store.close().await.expect("closes");
        }
    });
    seen.into_inner()
}

/// Leaves out whatever the failure does not need: halves first, single steps last.
fn without_idle(mut steps: Vec<Step>, fails: impl Fn(&[Step]) -> bool) -> Vec<Step> {
    let (since, mut size) = (Instant::now(), steps.len().div_ceil(2));
    while size > 0 && since.elapsed() < SHRINK {
        let mut at = 0;
        while at < steps.len() && since.elapsed() < SHRINK {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            if fails(&fewer) {
                steps = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    steps
}

fn story(outcome: Result<(), (Vec<String>, String)>) -> String {
    let Err((trace, what)) = outcome else { return "the shrunk history passes when it is played again".into() };
    let lines = trace.iter().enumerate().map(|(at, line)| format!("{:>3}. {line}\n", at + 1));
    format!("{}{what}", lines.collect::<String>())
}

fn seed() -> u64 {
    let given = std::env::var("GEN_DURABLE_SEED").ok().map(|seed| seed.parse().expect("GEN_DURABLE_SEED is a number"));
    given.unwrap_or_else(|| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0))
}

fn seed_bytes(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes
}

/// What a history must come to for the comparison to be worth something.
fn note(seen: &mut Seen, call: &Call, answer: &Answer) {
    let mut count = |what: String| *seen.entry(what).or_default() += 1;
    let name = |debug: String| debug.split(['(', ' ']).next().unwrap_or_default().to_owned();
    match answer {
        Answer::Started(all) => all.iter().for_each(|s| count(format!("start {}", name(format!("{s:?}"))))),
        Answer::Committed(all) => all.iter().for_each(|c| count(format!("commit {c:?}"))),
        Answer::Children { page, .. } if !page.is_empty() => count("children read".into()),
        Answer::Purged(gone, _) if *gone > 0 => count("instances purged".into()),
        Answer::Forgotten(lines) if *lines > 0 => count("lines forgotten".into()),
        Answer::Delivered(all) => all.iter().for_each(|d| {
            let woke = if d.wake.is_some() { ", wakes" } else { "" };
            count(format!("signal {}{woke}", name(format!("{:?}", d.delivered))));
        }),
        Answer::Claimed { claims, .. } => claims.iter().for_each(|c| {
            let wake = match &c.wake {
                None => "unsatisfied",
                Some(None) => "ready",
                Some(Some(signals)) if signals.is_empty() => "timed out",
                Some(Some(_)) => "signalled",
            };
            count(format!("claim {wake}"));
            if c.counts.2 > 1 {
                count("claim crashed twice".into());
            }
        }),
        Answer::NotRenewed { lost, .. } if !lost.is_empty() => count("renew lost".into()),
        Answer::Extended(extended) => count(format!("renew one {extended}")),
        Answer::Swept { rows, .. } if *rows > 0 => count(format!("{} swept", name(format!("{call:?}")))),
        _ => {}
    }
}
