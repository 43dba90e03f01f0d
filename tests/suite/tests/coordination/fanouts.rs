//! What a step fans out to, spawns or signals cannot be, stands already, or is served by nobody.

use std::time::Duration;

use gen_durable::{Status, Worker, prelude::*, start};
use suite::{Db, eventually, nothing_lost};

use crate::{
    Work,
    machines::{Hands, Red, Single, Three, Waits},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_fan_out_of_which_all_stand_already_goes_on_at_once,
        of_a_fan_out_that_names_one_child_twice_one_is_waited_for,
        a_child_that_cannot_be_is_an_error_of_the_step_and_nobody_is_started,
        what_is_spawned_or_signalled_and_cannot_be_is_an_error_of_the_step,
        a_child_in_a_queue_that_nobody_serves_is_waited_for,
    }
}

const LONG: Duration = Duration::from_secs(60);

/// What a step gives birth to.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub enum As {
    Children,
    Spawned,
    /// To whoever has this key.
    Signal,
}

/// With names that could not come in from outside: `^` becomes NUL, and `#` a thousand letters.
#[durable_fsm(output(String), handler(Hands), retry(attempts = 2, backoff = "1ms"), catch(Sorry))]
pub enum Birth {
    #[step(start, spawn(Single), next(Met))]
    Bear { names: Vec<String>, born: As, queue: String },
    #[step(join(Single), done)]
    Met {},
    #[step(done)]
    Sorry { error: String },
}

impl From<gen_durable::Failed<Birth>> for Sorry {
    fn from(failed: gen_durable::Failed<Birth>) -> Self {
        Self { error: failed.error }
    }
}

fn spoilt(name: &str) -> String {
    name.replace('^', "\0").replace('#', &"x".repeat(1_000))
}

impl BirthSteps for Hands {
    async fn bear(&self, step: Bear, _: &StepContext) -> StepResult<Bear> {
        let names = step.names.iter().map(|name| spoilt(name));
        let one = |name: String| Single::start(name).queue(step.queue.clone());
        Ok(match step.born {
            As::Children => fan_out(Met {}).children(names.map(one)).into(),
            As::Spawned => names.map(one).fold(fan_out(Met {}).into(), Outcome::spawn),
            As::Signal => names.fold(fan_out(Met {}).into(), |outcome: Outcome<Bear>, name| {
                outcome.signal(&gen_durable::To::<Waits>::key(name.as_str()), Red { n: 1 })
            }),
        })
    }

    async fn met(&self, _: Met, joined: Joined<Single>, _: &StepContext) -> StepResult<Met> {
        Ok(done(joined.results().await?.join(" ")))
    }

    async fn sorry(&self, step: Sorry, _: &StepContext) -> StepResult<Sorry> {
        Ok(done(format!("sorry: {}", step.error)))
    }
}

fn bear(names: &[&str], born: As) -> Bear {
    Bear { names: names.iter().map(|name| (*name).to_owned()).collect(), born, queue: "default".into() }
}

async fn born(work: &Work, names: &[&str], born: As) -> String {
    let birth = work.client.start(start(bear(names, born))).await.expect("starts");
    birth.wait().timeout(LONG).await.expect("ends")
}

const SINGLES: &str = "SELECT count(*) FROM gen_durable WHERE fsm = 'single'";

/// O-27.
async fn a_fan_out_of_which_all_stand_already_goes_on_at_once(db: Db) {
    let work = Work::on(&db).await;
    let later = Duration::from_secs(3_600);
    for name in ["a", "b"] {
        work.client.start(Single::start(name.into()).delay(later)).await.expect("starts");
    }
    assert_eq!(born(&work, &["a", "b", "a"], As::Children).await, "");
    assert_eq!(born(&work, &["b", "c", "a"], As::Children).await, "C", "the one that is new");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE fsm = 'single' AND parent_id IS NULL").await, 2);
    work.stop().await;
}

/// O-27.
async fn of_a_fan_out_that_names_one_child_twice_one_is_waited_for(db: Db) {
    let work = Work::on(&db).await;
    assert_eq!(born(&work, &["a", "a", "b", "a"], As::Children).await, "A B");
    assert_eq!(db.count(SINGLES).await, 2);
    work.stop().await;
}

/// O-27: by its key, or by its state.
async fn a_child_that_cannot_be_is_an_error_of_the_step_and_nobody_is_started(db: Db) {
    let work = Work::on(&db).await;
    for (name, says) in
        [("b^", "state contains a NUL character"), ("#", "key has 1007 bytes: at most 1000 are allowed")]
    {
        let said = born(&work, &["a", name, "c"], As::Children).await;
        assert_eq!(said, format!("sorry: {says}"));
    }
    let elsewhere = Bear { queue: "a:b\u{1}".into(), ..bear(&["a"], As::Children) };
    let birth = work.client.start(start(elsewhere)).await.expect("starts");
    let said = birth.wait().timeout(LONG).await.expect("ends");
    assert!(said.starts_with("sorry: queue"), "{said}");
    assert_eq!(db.count(SINGLES).await, 0);
    work.stop().await;
    nothing_lost(&db, &[birth.id().expect("known")]).await;
}

/// O-27 and its kind: nothing of such an outcome is done, neither what could be.
async fn what_is_spawned_or_signalled_and_cannot_be_is_an_error_of_the_step(db: Db) {
    let work = Work::on(&db).await;
    let three = work.client.start(start(Three { name: "a".into(), patience: LONG })).await.expect("starts");
    for born_as in [As::Spawned, As::Signal] {
        for name in ["b^", "#"] {
            let said = born(&work, &["a", name], born_as).await;
            assert!(said.starts_with("sorry: ") && said.len() < 100, "{said}");
        }
    }
    assert_eq!((db.count(SINGLES).await, db.count("SELECT count(*) FROM signals").await), (0, 0));
    // One that stands already, and nobody: neither is an error.
    work.client.start(Single::start("a".into()).delay(LONG * 60)).await.expect("starts");
    assert_eq!(born(&work, &["a", "b"], As::Spawned).await, "");
    assert_eq!(born(&work, &["a", "nobody"], As::Signal).await, "");
    assert_eq!((db.count(SINGLES).await, db.count("SELECT count(*) FROM signals").await), (2, 1));
    three.cancel("enough").await.expect("asks");
    work.stop().await;
}

/// O-27: whoever serves it comes later.
async fn a_child_in_a_queue_that_nobody_serves_is_waited_for(db: Db) {
    let work = Work::on(&db).await;
    let birth = Bear { queue: "apart".into(), ..bear(&["a", "b"], As::Children) };
    let birth = work.client.start(start(birth)).await.expect("starts");
    let stands = async || birth.show().await.expect("stands").status;
    eventually("it waits", LONG, async || stands().await == Status::AwaitingChildren).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(stands().await, Status::AwaitingChildren);
    let waiting = "SELECT count(*) FROM gen_durable WHERE queue = 'apart' AND status = 'runnable' AND attempt = 0";
    assert_eq!(db.count(waiting).await, 2, "it can be seen where they stand");
    let client = gen_durable::Client::on(suite::store_options(&db.url).open().expect("a store"));
    let other = Worker::new(client).handler(Hands::default()).leave_unserved().queue("apart", 2).without_migration();
    let other = other.start().await.expect("starts");
    assert_eq!(birth.wait().timeout(LONG).await.expect("ends"), "A B");
    other.stop().await;
    work.stop().await;
}
