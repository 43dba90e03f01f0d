//! What a machine's annotations promise, end to end.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use gen_durable::{Client, Failed, RunningWorker, Status, Target, WaitError, prelude::*};
use serde::{Deserialize, Serialize};
use suite::Db;

suite::stores! {
    both {
        a_carry_is_kept_only_when_the_handler_returns_ok,
        the_machines_catch_serves_a_step_without_its_own_and_holds_the_carry,
        a_key_without_a_limit_runs_one_at_a_time_and_others_beside_it,
        a_job_is_a_machine_of_one_step_with_its_arguments_as_state,
        a_polling_step_outlives_its_attempts_and_each_visit_has_its_own_key,
        rows_of_an_older_version_are_taken_over_wherever_they_stand,
        what_stands_is_listed_by_page_and_shown_by_id_and_key,
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub tenant: String,
    pub seen: Vec<String>,
}

#[derive(ConcurrencyKey)]
#[concurrency(key(String))]
pub struct Tenant;

/// Shares facts, runs under its tenant's key, and catches for all of its steps.
#[durable_fsm(output(Facts), carry(Facts), handler(Hands), concurrency(Tenant, by(carry.tenant)), catch(Sorry))]
pub enum Shared {
    #[step(start, next(Second), retry(attempts = 2, backoff = "1ms"))]
    First { fail: u32 },
    #[step(done, queue = "aside", priority = 7)]
    Second,
    #[step(done, concurrency(none))]
    Sorry { error: String, at: String },
}

impl From<Failed<Shared>> for Sorry {
    fn from(failed: Failed<Shared>) -> Self {
        let at = match failed.step {
            Shared::First { .. } => "first",
            Shared::Second | Shared::Sorry { .. } => "another",
        };
        Self { error: failed.error, at: format!("{at} of {}", failed.carry.tenant) }
    }
}

#[durable_job(retry(attempts = 2, backoff = "1ms"), key(left))]
async fn add(hands: &Hands, left: u32, right: u32, cx: &StepContext) -> Result<u32, StepError> {
    hands.note(format!("add {}", cx.attempt()));
    left.checked_add(right).ok_or_else(|| StepError::new("too much"))
}

/// Asks again until it is there.
#[durable_fsm(output(Vec<String>), handler(Hands))]
pub enum Polls {
    #[step(start, next(Later), retry(attempts = 1))]
    Ask { times: u32 },
    #[step(next(Last))]
    Later { keys: Vec<String> },
    #[step(done)]
    Last { keys: Vec<String> },
}

pub mod v1 {
    use super::{Deserialize, Go, Serialize};
    use gen_durable::prelude::*;

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub struct OldFacts {
        pub name: String,
    }

    /// Its rows live on in version 2; it needs no handlers.
    #[durable_fsm(name = "signup", carry(OldFacts))]
    pub enum Signup {
        #[step(start, next(Welcome, Wait))]
        Create { mail: String },
        #[step(await(Go), done)]
        Wait { mail: String },
        #[step(done)]
        Welcome { mail: String },
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Go {}

#[derive(Debug, Serialize, Deserialize)]
pub struct NewFacts {
    pub name: String,
}
impl From<v1::OldFacts> for NewFacts {
    fn from(old: v1::OldFacts) -> Self {
        Self { name: format!("{}!", old.name) }
    }
}

#[durable_fsm(name = "signup", version = 2, output(String), carry(NewFacts), from(v1::Signup), handler(Hands))]
pub enum Signup {
    #[step(start, next(Greet, Wait))]
    Create { mail: String, lang: String },
    #[step(await(Go), next(Greet))]
    Wait { mail: String },
    #[step(done, alias = "welcome")]
    Greet { mail: String, lang: String },
}
impl From<v1::Signup> for Signup {
    fn from(old: v1::Signup) -> Self {
        let lang = String::from("en");
        match old {
            v1::Signup::Create { mail } => Self::Create { mail, lang },
            v1::Signup::Wait { mail } => Self::Wait { mail },
            v1::Signup::Welcome { mail } => Self::Greet { mail, lang },
        }
    }
}

#[derive(Default)]
pub struct Hands {
    notes: Arc<Mutex<Vec<String>>>,
    running: Arc<Mutex<HashMap<String, usize>>>,
    worst: Arc<AtomicUsize>,
}

impl Hands {
    fn note(&self, note: String) {
        self.notes.lock().expect("no panic holds it").push(note);
    }
}

impl SharedSteps for Hands {
    async fn first(&self, step: First, carry: &mut Facts, cx: &StepContext) -> StepResult<First> {
        let now = {
            let mut running = self.running.lock().expect("no panic holds it");
            let now = running.entry(carry.tenant.clone()).or_default();
            *now += 1;
            *now
        };
        self.worst.fetch_max(now, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(5)).await;
        *self.running.lock().expect("no panic holds it").get_mut(&carry.tenant).expect("counted") -= 1;
        carry.seen.push(format!("first {}", cx.attempt()));
        if cx.attempt() < step.fail {
            return Err("not yet".into());
        }
        Ok(goto(Second))
    }
    async fn second(&self, _step: Second, carry: &mut Facts, _cx: &StepContext) -> StepResult<Second> {
        carry.seen.push("second".into());
        Ok(done(carry.clone()))
    }
    async fn sorry(&self, step: Sorry, carry: &mut Facts, _cx: &StepContext) -> StepResult<Sorry> {
        carry.seen.push(format!("{} at {}", step.error, step.at));
        Ok(done(carry.clone()))
    }
}

impl PollsSteps for Hands {
    async fn ask(&self, step: Ask, cx: &StepContext) -> StepResult<Ask> {
        if cx.attempt() < step.times {
            return Ok(retry_in(Duration::from_millis(1)));
        }
        Ok(goto(Later { keys: vec![cx.idempotency_key()] }))
    }
    async fn later(&self, mut step: Later, cx: &StepContext) -> StepResult<Later> {
        step.keys.push(cx.idempotency_key());
        Ok(goto_after(Last { keys: step.keys }, Duration::from_millis(30)))
    }
    async fn last(&self, mut step: Last, cx: &StepContext) -> StepResult<Last> {
        step.keys.push(cx.idempotency_key());
        Ok(done(step.keys))
    }
}

impl SignupSteps for Hands {
    async fn create(&self, step: Create, _carry: &mut NewFacts, _cx: &StepContext) -> StepResult<Create> {
        Ok(goto(Greet { mail: step.mail, lang: step.lang }))
    }
    async fn wait(&self, step: Wait, _go: Go, _carry: &mut NewFacts, _cx: &StepContext) -> StepResult<Wait> {
        Ok(goto(Greet { mail: step.mail, lang: "after go".into() }))
    }
    async fn greet(&self, step: Greet, carry: &mut NewFacts, _cx: &StepContext) -> StepResult<Greet> {
        Ok(done(format!("{} {} {}", step.mail, step.lang, carry.name)))
    }
}

async fn worker(db: &Db, hands: Hands) -> (Client, RunningWorker) {
    let client = Client::options(&db.url).pool_size(6).connect().await.expect("connects");
    let worker = Worker::new(client.clone()).handler(hands).leave_unserved().drain(Duration::from_secs(2));
    (client, worker.start().await.expect("starts"))
}

fn facts(tenant: &str) -> Facts {
    Facts { tenant: tenant.into(), seen: vec![] }
}

async fn a_carry_is_kept_only_when_the_handler_returns_ok(db: Db) {
    let (client, worker) = worker(&db, Hands::default()).await;
    let shared = client.start(start(First { fail: 1 }).carry(facts("a"))).await.expect("starts");
    let ended = shared.wait().await.expect("ends");
    assert_eq!(ended.seen, ["first 1", "second"], "what the failed attempt wrote is gone");
    assert_eq!(db.text("SELECT queue || ' ' || priority FROM gen_durable").await, "aside 7");
    assert_eq!(db.json("SELECT carry::text FROM gen_durable").await["seen"], serde_json::json!(["first 1", "second"]));
    worker.stop().await;
}

async fn the_machines_catch_serves_a_step_without_its_own_and_holds_the_carry(db: Db) {
    let (client, worker) = worker(&db, Hands::default()).await;
    let shared = client.start(start(First { fail: 9 }).carry(facts("b"))).await.expect("starts");
    assert_eq!(shared.wait().await.expect("ends").seen, ["not yet at first of b"]);
    worker.stop().await;
}

async fn a_key_without_a_limit_runs_one_at_a_time_and_others_beside_it(db: Db) {
    let hands = Hands::default();
    let worst = Arc::clone(&hands.worst);
    let (client, worker) = worker(&db, hands).await;
    let starts = (0..40).map(|n| start(First { fail: 0 }).carry(facts(["a", "b"][n % 2])));
    for started in client.start_many(starts).await.expect("starts") {
        client.by_id::<Shared>(started.id()).wait().timeout(Duration::from_secs(30)).await.expect("ends");
    }
    assert_eq!(worst.load(Ordering::Relaxed), 1);
    worker.stop().await;
}

async fn a_job_is_a_machine_of_one_step_with_its_arguments_as_state(db: Db) {
    let hands = Hands::default();
    let notes = Arc::clone(&hands.notes);
    let (client, worker) = worker(&db, hands).await;
    let sum = client.start(Add::start(2, 3)).await.expect("starts");
    assert_eq!(sum.wait().await.expect("ends"), 5);
    let failed = client.start(Add::start(u32::MAX, 1)).await.expect("starts");
    let Err(WaitError::Failed { reason, .. }) = failed.wait().await else { panic!("it fails") };
    assert_eq!(reason, "too much");
    assert_eq!(*notes.lock().expect("free"), ["add 0", "add 0", "add 1"]);
    let by_key = client.of::<Add>(u32::MAX).show().await.expect_err("free after its end");
    assert!(by_key.is_not_found());
    worker.stop().await;
}

async fn a_polling_step_outlives_its_attempts_and_each_visit_has_its_own_key(db: Db) {
    let (client, worker) = worker(&db, Hands::default()).await;
    let polls = client.start(start(Ask { times: 12 })).await.expect("starts");
    let id = polls.id().expect("known");
    assert_eq!(polls.wait().await.expect("ends"), [format!("{id}-0"), format!("{id}-1"), format!("{id}-2")]);
    worker.stop().await;
}

async fn rows_of_an_older_version_are_taken_over_wherever_they_stand(db: Db) {
    let client = Client::connect(&db.url).await.expect("connects");
    let old = |name: &str| v1::OldFacts { name: name.into() };
    let fresh = client.start(start(v1::Create { mail: "a@b".into() }).carry(old("ann"))).await.expect("starts");
    // As a worker of version 1 left them: at a step that is gone, and parked.
    db.run("INSERT INTO gen_durable (fsm, fsm_version, step, state, carry) VALUES ('signup', 1, 'welcome', '{\"mail\": \"c@d\"}', '{\"name\": \"bob\"}')").await;
    db.run("INSERT INTO gen_durable (fsm, fsm_version, step, state, carry, status, awaits) VALUES ('signup', 1, 'wait', '{\"mail\": \"e@f\"}', '{\"name\": \"eve\"}', 'awaiting_signal', '{go}')").await;
    let typed: Signup = client.get(gen_durable::InstanceId::new(2)).await.expect("converted");
    assert!(matches!(typed, Signup::Greet { .. }));
    let (_, worker) = worker(&db, Hands::default()).await;
    let id = fresh.id().expect("known");
    assert_eq!(client.by_id::<Signup>(id).wait().await.expect("ends"), "a@b en ann!");
    let second = client.by_id::<Signup>(gen_durable::InstanceId::new(2));
    assert_eq!(second.wait().await.expect("ends"), "c@d en bob!");
    let third = client.by_id::<Signup>(gen_durable::InstanceId::new(3));
    third.signal(Go {}).await.expect("delivers");
    assert_eq!(third.wait().await.expect("ends"), "e@f after go eve!");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE fsm_version = 1 AND step <> 'welcome'").await, 0);
    worker.stop().await;
}

async fn what_stands_is_listed_by_page_and_shown_by_id_and_key(db: Db) {
    let client = Client::connect(&db.url).await.expect("connects");
    for left in 0..5 {
        client.start(Add::start(left, 1)).await.expect("starts");
    }
    let filter = gen_durable::Filter::default().machine("add").status(Status::Runnable).limit(2);
    let page = client.list(filter.clone()).await.expect("lists");
    assert_eq!(page.iter().map(|s| s.id.get()).collect::<Vec<_>>(), [5, 4]);
    let page = client.list(filter.before(page[1].id)).await.expect("lists");
    assert_eq!(page.iter().map(|s| s.id.get()).collect::<Vec<_>>(), [3, 2]);
    let shown = client.show(&Target::Key("add:3".into())).await.expect("shows");
    assert_eq!((shown.id.get(), shown.status, shown.queue.as_str()), (4, Status::Runnable, "default"));
}
