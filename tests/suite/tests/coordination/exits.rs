//! What leaves a step from outside: the deadline of its machine, and signals that any step reacts to.

use std::time::{Duration, Instant};

use gen_durable::{Expired, Received, Status, prelude::*, start};
use serde::{Deserialize, Serialize};
use suite::{Db, eventually, nothing_lost};

use crate::{Work, machines::Double, machines::Hands};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_deadline_leaves_whatever_waits_on_time_and_never_early,
        a_deadline_interrupts_no_run_and_an_end_is_an_end,
        a_deadline_counts_from_when_it_is_due_and_passes_while_nobody_works,
        a_shielded_step_is_left_before_the_deadline_counts,
        what_was_cancelled_has_no_deadline_and_hears_no_signal,
        a_signal_leaves_whatever_waits_and_is_consumed,
        a_signal_that_comes_while_a_step_runs_leaves_the_next_one,
        a_signal_waits_for_the_end_of_a_shield,
        a_step_that_awaits_the_signal_itself_gets_it,
        the_deadline_goes_before_a_signal,
        an_exit_that_cannot_be_made_fails_the_step_for_good_and_its_signal_is_not_met_again,
        who_leaves_a_join_cancels_the_rest_where_it_says_so,
    }
}

const LONG: Duration = Duration::from_secs(15);
const HOUR: u64 = 3_600_000;
const DEADLINE: Duration = Duration::from_millis(600);

#[derive(Debug, Clone, Serialize, Deserialize, Signal)]
pub struct Poke {}
#[derive(Debug, Clone, Serialize, Deserialize, Signal)]
pub struct Withdrawn {
    pub why: String,
}

/// Has little time.
#[durable_fsm(
    output(String),
    handler(Hands),
    deadline = "600ms",
    on_deadline(Late),
    on(Withdrawn, Off),
    on_cancel(Undo)
)]
pub enum Errand {
    #[step(start, await(Poke), next(Dash), catch(Sorry))]
    Queue { n: u32 },
    #[step(start, next(Queue, Shop, Hush, Rest), done, retry(backoff = "1h", cap = "1h"))]
    Dash { ms: u64, then: String },
    #[step(start, shield, await(Poke), next(Queue))]
    Hush { n: u32 },
    #[step(done)]
    Rest { n: u32 },
    #[step(join(Double), rest = "cancel", done)]
    Shop { n: u32 },
    #[step(done)]
    Late { was: String },
    #[step(done)]
    Off { was: String, why: String },
    #[step(await(Poke), done)]
    Undo,
    #[step(next(Queue), done)]
    Sorry { error: String },
}

/// Reacts to the same signal as every step of it, and awaits it once.
#[durable_fsm(output(String), handler(Hands), on(Withdrawn, Over))]
pub enum Talk {
    #[step(start, await(Withdrawn), next(Wait))]
    Listen,
    #[step(start, await(Poke), done)]
    Wait,
    #[step(done)]
    Over { why: String },
}

fn at(errand: &Errand) -> String {
    match errand {
        Errand::Queue { .. } => "queue",
        Errand::Dash { .. } => "dash",
        Errand::Hush { .. } => "hush",
        Errand::Shop { .. } => "shop",
        Errand::Rest { .. } => "rest",
        Errand::Late { .. } | Errand::Off { .. } | Errand::Undo | Errand::Sorry { .. } => "elsewhere",
    }
    .into()
}

impl From<Expired<Errand>> for Late {
    fn from(expired: Expired<Errand>) -> Self {
        Self { was: at(&expired.step) }
    }
}
impl From<Received<Errand, Withdrawn>> for Off {
    fn from(received: Received<Errand, Withdrawn>) -> Self {
        assert_ne!(received.signal.why, "panic", "as told");
        Self { was: at(&received.step), why: received.signal.why }
    }
}
impl From<gen_durable::Cancelled<Errand>> for Undo {
    fn from(_: gen_durable::Cancelled<Errand>) -> Self {
        Self
    }
}
impl From<gen_durable::Failed<Queue>> for Sorry {
    fn from(failed: gen_durable::Failed<Queue>) -> Self {
        Self { error: failed.error }
    }
}
impl From<Received<Talk, Withdrawn>> for Over {
    fn from(received: Received<Talk, Withdrawn>) -> Self {
        Self { why: received.signal.why }
    }
}

impl ErrandSteps for Hands {
    async fn queue(&self, step: Queue, _: Poke, _: &StepContext) -> StepResult<Queue> {
        Ok(goto(Dash { ms: u64::from(step.n), then: "end".into() }))
    }

    async fn dash(&self, step: Dash, _: &StepContext) -> StepResult<Dash> {
        self.note("dash");
        tokio::time::sleep(Duration::from_millis(step.ms)).await;
        self.note("dashed");
        match step.then.as_str() {
            "queue" => Ok(goto(Queue { n: 0 })),
            "later" => Ok(goto_after(Rest { n: 0 }, Duration::from_millis(HOUR))),
            "hush" => Ok(goto(Hush { n: 0 })),
            "shop" => Ok(fan_out(Shop { n: 0 }).children([Double::start(1, false, HOUR)]).into()),
            "end" => Ok(done("dashed".into())),
            _ => Err(StepError::new("as told")),
        }
    }

    async fn hush(&self, step: Hush, _: Poke, _: &StepContext) -> StepResult<Hush> {
        self.note("hush");
        Ok(goto(Queue { n: step.n }))
    }

    async fn rest(&self, step: Rest, _: &StepContext) -> StepResult<Rest> {
        Ok(done(format!("rested {}", step.n)))
    }

    async fn shop(&self, step: Shop, _: Joined<Double>, _: &StepContext) -> StepResult<Shop> {
        Ok(done(format!("shopped {}", step.n)))
    }

    async fn late(&self, step: Late, _: &StepContext) -> StepResult<Late> {
        Ok(done(format!("late at {}", step.was)))
    }

    async fn off(&self, step: Off, _: &StepContext) -> StepResult<Off> {
        Ok(done(format!("off at {}: {}", step.was, step.why)))
    }

    async fn undo(&self, _: Undo, _: Poke, _: &StepContext) -> StepResult<Undo> {
        Ok(done("undone".into()))
    }

    async fn sorry(&self, step: Sorry, _: &StepContext) -> StepResult<Sorry> {
        Ok(done(step.error))
    }
}

impl TalkSteps for Hands {
    async fn listen(&self, _: Listen, heard: Withdrawn, _: &StepContext) -> StepResult<Listen> {
        self.note(format!("heard {}", heard.why));
        Ok(goto(Wait))
    }

    async fn wait(&self, _: Wait, _: Poke, _: &StepContext) -> StepResult<Wait> {
        Ok(done("poked".into()))
    }

    async fn over(&self, step: Over, _: &StepContext) -> StepResult<Over> {
        Ok(done(step.why))
    }
}

fn withdrawn(why: &str) -> Withdrawn {
    Withdrawn { why: why.into() }
}

fn dash(ms: u64, then: &str) -> gen_durable::Start<Errand> {
    start(Dash { ms, then: then.into() })
}

/// One that waits for a signal, a timer, its backoff and its children.
async fn everyone_who_waits(work: &Work) -> Vec<(gen_durable::Handle<Errand>, &'static str)> {
    let mut all = vec![(work.client.start(start(Queue { n: 0 })).await.expect("starts"), "queue")];
    for (then, at) in [("later", "rest"), ("error", "dash"), ("shop", "shop")] {
        all.push((work.client.start(dash(0, then)).await.expect("starts"), at));
    }
    all
}

async fn a_deadline_leaves_whatever_waits_on_time_and_never_early(db: Db) {
    let work = Work::on(&db).await;
    let began = Instant::now();
    let all = everyone_who_waits(&work).await;
    for (errand, at) in &all {
        assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), format!("late at {at}"));
        assert!(began.elapsed() >= DEADLINE, "early: {:?}", began.elapsed());
        let line = errand.history().await.expect("its history").into_iter().find(|h| h.to.as_deref() == Some("late"));
        let line = line.expect("it left");
        let stands = errand.show().await.expect("stands");
        assert_eq!(stands.deadline, None, "what has ended has none");
        // The promise is 100 ms; 400 more for a loaded machine.
        let over = line.committed_at.duration_since(stands.inserted_at).as_millis() - 600;
        assert!((0..500).contains(&over), "{at}: {over} ms after its deadline");
        assert_eq!(line.error.as_deref(), Some("its deadline passed"));
    }
    let ids: Vec<_> = all.iter().map(|(errand, _)| errand.id().expect("known")).collect();
    nothing_lost(&db, &ids).await;
    work.stop().await;
}

async fn a_deadline_interrupts_no_run_and_an_end_is_an_end(db: Db) {
    let work = Work::on(&db).await;
    let goes_on = work.client.start(dash(900, "queue")).await.expect("starts");
    let ends = work.client.start(dash(900, "end")).await.expect("starts");
    assert_eq!(goes_on.wait().timeout(LONG).await.expect("ends"), "late at queue");
    assert_eq!(ends.wait().timeout(LONG).await.expect("ends"), "dashed");
    assert_eq!(work.hands.notes().iter().filter(|note| *note == "dashed").count(), 2, "both ran to their end");
    work.stop().await;
}

async fn a_deadline_counts_from_when_it_is_due_and_passes_while_nobody_works(db: Db) {
    let client = gen_durable::Client::on(db.store.clone());
    let later = client.start(start(Queue { n: 0 }).delay(Duration::from_millis(HOUR))).await.expect("starts");
    let stands = later.show().await.expect("stands");
    let span = stands.deadline.expect("it has one").duration_since(stands.inserted_at);
    assert_eq!(span.as_millis(), i128::from(HOUR) + 600);
    let now = client.start(start(Queue { n: 0 })).await.expect("starts");
    tokio::time::sleep(DEADLINE).await;
    let work = Work::on(&db).await;
    assert_eq!(now.wait().timeout(LONG).await.expect("ends"), "late at queue");
    assert_eq!(later.show().await.expect("stands").step, "queue");
    work.stop().await;
}

async fn a_shielded_step_is_left_before_the_deadline_counts(db: Db) {
    let work = Work::on(&db).await;
    let errand = work.client.start(start(Hush { n: 0 })).await.expect("starts");
    tokio::time::sleep(2 * DEADLINE).await;
    let stands = errand.show().await.expect("stands");
    assert_eq!((stands.status, stands.step.as_str()), (Status::AwaitingSignal, "hush"));
    errand.signal(Poke {}).await.expect("delivers");
    assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), "late at queue");
    assert_eq!(work.hands.notes(), ["hush"]);
    work.stop().await;
}

async fn what_was_cancelled_has_no_deadline_and_hears_no_signal(db: Db) {
    let work = Work::on(&db).await;
    let errand = work.client.start(start(Queue { n: 0 })).await.expect("starts");
    errand.cancel("rain").await.expect("asks");
    errand.wait_for_step::<Undo>().timeout(LONG).await.expect("undoes");
    errand.signal(withdrawn("too late")).await.expect("delivers");
    tokio::time::sleep(2 * DEADLINE).await;
    assert_eq!(errand.show().await.expect("stands").step, "undo");
    errand.signal(Poke {}).await.expect("delivers");
    assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), "undone");
    work.stop().await;
}

async fn a_signal_leaves_whatever_waits_and_is_consumed(db: Db) {
    let work = Work::on(&db).await;
    for (errand, at) in everyone_who_waits(&work).await {
        let waits = async || {
            let stands = errand.show().await.expect("stands");
            stands.step == at && stands.status != Status::Executing && (at != "dash" || stands.attempt > 0)
        };
        eventually("it waits", LONG, waits).await;
        errand.signal(withdrawn(at)).dedup("once").await.expect("delivers");
        errand.signal(withdrawn("again")).dedup("once").await.expect("is a duplicate");
        assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), format!("off at {at}: {at}"));
    }
    assert_eq!(db.count("SELECT count(*) FROM signals WHERE consumed_at IS NULL").await, 0);
    work.stop().await;
}

async fn a_signal_that_comes_while_a_step_runs_leaves_the_next_one(db: Db) {
    let work = Work::on(&db).await;
    for then in ["queue", "later", "error", "shop"] {
        let before = work.hands.notes().len();
        let errand = work.client.start(dash(200, then)).await.expect("starts");
        eventually("it runs", LONG, async || work.hands.notes().len() > before).await;
        errand.signal(withdrawn("rain")).await.expect("delivers");
        let at = match then {
            "error" => "dash",
            "later" => "rest",
            "shop" => "shop",
            _ => "queue",
        };
        assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), format!("off at {at}: rain"));
    }
    assert_eq!(work.hands.notes().iter().filter(|note| *note == "dashed").count(), 4, "no run was dropped");
    work.stop().await;
}

async fn a_signal_waits_for_the_end_of_a_shield(db: Db) {
    let work = Work::on(&db).await;
    let errand = work.client.start(start(Hush { n: 0 })).await.expect("starts");
    errand.signal(withdrawn("rain")).await.expect("delivers");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(errand.show().await.expect("stands").step, "hush");
    errand.signal(Poke {}).await.expect("delivers");
    assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), "off at queue: rain");
    work.stop().await;
}

async fn a_step_that_awaits_the_signal_itself_gets_it(db: Db) {
    let work = Work::on(&db).await;
    let talk = work.client.start(start(Listen)).await.expect("starts");
    talk.signal(withdrawn("first")).await.expect("delivers");
    talk.wait_for_step::<Wait>().timeout(LONG).await.expect("listens");
    talk.signal(withdrawn("second")).await.expect("delivers");
    assert_eq!(talk.wait().timeout(LONG).await.expect("ends"), "second");
    assert_eq!(work.hands.notes(), ["heard first"]);
    work.stop().await;
}

async fn the_deadline_goes_before_a_signal(db: Db) {
    let client = gen_durable::Client::on(db.store.clone());
    let errand = client.start(start(Queue { n: 0 })).await.expect("starts");
    errand.signal(withdrawn("rain")).await.expect("delivers");
    tokio::time::sleep(DEADLINE).await;
    assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 1);
    let work = Work::on(&db).await;
    assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), "late at queue");
    work.stop().await;
}

async fn an_exit_that_cannot_be_made_fails_the_step_for_good_and_its_signal_is_not_met_again(db: Db) {
    let work = Work::on(&db).await;
    let errand = work.client.start(start(Queue { n: 0 })).await.expect("starts");
    errand.signal(withdrawn("panic")).await.expect("delivers");
    let said = errand.wait().timeout(LONG).await.expect("its catch ends");
    assert!(said.starts_with("its on(..) failed: panicked: "), "{said}");
    let unread = work.client.start(start(Queue { n: 0 })).await.expect("starts");
    unread.signal(withdrawn("x")).await.ok();
    db.run("UPDATE signals SET payload = '{}'").await;
    unread.wait().timeout(LONG).await.expect("ends one way or the other");
    work.stop().await;
}

async fn who_leaves_a_join_cancels_the_rest_where_it_says_so(db: Db) {
    let work = Work::on(&db).await;
    let errand = work.client.start(dash(0, "shop")).await.expect("starts");
    assert_eq!(errand.wait().timeout(LONG).await.expect("ends"), "late at shop");
    let rest = "SELECT count(*) FROM gen_durable WHERE fsm = 'double' AND cancelled_at IS NOT NULL";
    assert_eq!(db.count(rest).await, 1);
    work.stop().await;
}
