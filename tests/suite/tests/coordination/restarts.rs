//! New instances that go on from a step of another one.

use std::time::Duration;

use gen_durable::{Client, InstanceId, Status, TimedOut, prelude::*, start};
use serde::{Deserialize, Serialize};
use suite::{Db, nothing_lost, store_options};

use crate::{Work, machines::Hands};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_fork_has_the_carry_the_place_and_the_free_key_of_its_original_which_stays_as_it_is,
        a_fork_enters_its_step_by_the_rules_that_stand_on_it,
        an_original_that_lives_or_keeps_its_key_is_not_forked,
        of_two_forks_at_once_one_gets_the_key,
        a_fork_of_a_child_is_nobodys_child,
        a_fork_of_an_older_version_is_of_the_new_one,
        what_cannot_be_forked_says_why_and_starts_nothing,
    }
}

const LONG: Duration = Duration::from_secs(60);

/// What a book costs so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub customer: String,
    pub cents: u32,
}

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Press;

#[derive(Debug, Clone, Serialize, Deserialize, Signal)]
pub struct Approved {}

mod v1 {
    use super::*;

    /// Its rows live on in version 2; it needs no handlers.
    #[durable_fsm(name = "book", carry(String))]
    pub enum Book {
        #[step(start, done)]
        Write { number: u64 },
    }
}

#[durable_fsm(name = "book", version = 2, from(v1::Book), output(String), carry(Bill), handler(Hands))]
pub enum Book {
    #[step(start, key(number), next(Proof, Print))]
    Order { number: u64, proof: bool },
    #[step(await(Approved), timeout = "1h", next(Print))]
    Proof { number: u64 },
    #[step(concurrency(Press, by(number)), next(Dry), fail)]
    Print { number: u64, paper: bool },
    #[step(timeout(rest), next(Bind))]
    Dry { rest: Duration },
    #[step(queue = "bindery", priority = -1, done)]
    Bind { colour: String },
}

impl From<v1::Book> for Book {
    fn from(old: v1::Book) -> Self {
        match old {
            v1::Book::Write { number } => Self::Order { number, proof: false },
        }
    }
}

impl From<String> for Bill {
    fn from(customer: String) -> Self {
        Self { customer, cents: 0 }
    }
}

impl BookSteps for Hands {
    async fn order(&self, step: Order, bill: &mut Bill, _: &StepContext) -> StepResult<Order> {
        bill.cents += 100;
        let Order { number, proof } = step;
        Ok(if proof { goto(Proof { number }) } else { goto(Print { number, paper: false }) })
    }

    async fn proof(
        &self,
        step: Proof,
        _: Result<Approved, TimedOut>,
        _: &mut Bill,
        _: &StepContext,
    ) -> StepResult<Proof> {
        Ok(goto(Print { number: step.number, paper: true }))
    }

    async fn print(&self, step: Print, bill: &mut Bill, _: &StepContext) -> StepResult<Print> {
        bill.cents += 20;
        Ok(if step.paper { goto(Dry { rest: Duration::from_millis(1) }) } else { fail("no paper") })
    }

    async fn dry(&self, _: Dry, _: &mut Bill, _: &StepContext) -> StepResult<Dry> {
        Ok(goto(Bind { colour: "red".into() }))
    }

    async fn bind(&self, step: Bind, bill: &mut Bill, _: &StepContext) -> StepResult<Bind> {
        Ok(done(format!("{} for {} at {}", step.colour, bill.customer, bill.cents)))
    }
}

/// Keeps its name for ever.
#[durable_fsm(output(u64), handler(Hands))]
pub enum Deed {
    #[step(start, key(number, kept), next(Sealed))]
    Draw { number: u64 },
    #[step(done)]
    Sealed { number: u64 },
}

impl DeedSteps for Hands {
    async fn draw(&self, step: Draw, _: &StepContext) -> StepResult<Draw> {
        Ok(goto(Sealed { number: step.number }))
    }

    async fn sealed(&self, step: Sealed, _: &StepContext) -> StepResult<Sealed> {
        Ok(done(step.number))
    }
}

/// Lapses, and may be given back.
#[durable_fsm(output(u64), handler(Hands), deadline = "2h", on_deadline(Lapse), on(Approved, Lapse))]
pub enum Permit {
    #[step(start, next(Grant))]
    Ask { number: u64 },
    #[step(done)]
    Grant { number: u64 },
    #[step(done)]
    Lapse { number: u64 },
}

impl From<gen_durable::Expired<Permit>> for Lapse {
    fn from(_: gen_durable::Expired<Permit>) -> Self {
        Self { number: 0 }
    }
}

impl From<gen_durable::Received<Permit, Approved>> for Lapse {
    fn from(_: gen_durable::Received<Permit, Approved>) -> Self {
        Self { number: 1 }
    }
}

impl PermitSteps for Hands {
    async fn ask(&self, step: Ask, _: &StepContext) -> StepResult<Ask> {
        Ok(goto(Grant { number: step.number }))
    }

    async fn grant(&self, step: Grant, _: &StepContext) -> StepResult<Grant> {
        Ok(done(step.number))
    }

    async fn lapse(&self, step: Lapse, _: &StepContext) -> StepResult<Lapse> {
        Ok(done(step.number))
    }
}

/// Waits for children that wait.
#[durable_fsm(output(u64), handler(Hands))]
pub enum Choir {
    #[step(start, next(Sung))]
    Gathered { singers: u32 },
    #[step(join(Choir), done)]
    Sung,
    #[step(start, await(Approved), done)]
    Singer { voice: u32 },
}

impl ChoirSteps for Hands {
    async fn gathered(&self, step: Gathered, _: &StepContext) -> StepResult<Gathered> {
        Ok(fan_out(Sung).children((0..step.singers).map(|voice| start(Singer { voice }))).into())
    }

    async fn sung(&self, _: Sung, joined: Joined<Choir>, _: &StepContext) -> StepResult<Sung> {
        Ok(done(joined.counts().done))
    }

    async fn singer(&self, step: Singer, _: Approved, _: &StepContext) -> StepResult<Singer> {
        Ok(done(u64::from(step.voice)))
    }
}

fn client(db: &Db) -> Client {
    Client::on(store_options(&db.url).open().expect("a store"))
}

fn bill(customer: &str) -> Bill {
    Bill { customer: customer.into(), cents: 0 }
}

async fn a_fork_has_the_carry_the_place_and_the_free_key_of_its_original_which_stays_as_it_is(db: Db) {
    let work = Work::on(&db).await;
    let order = start(Order { number: 7, proof: false }).carry(bill("ada")).queue("bindery").priority(3);
    let original = work.client.start(order).await.expect("starts");
    original.wait().timeout(LONG).await.expect_err("there is no paper");
    let (id, before) = (original.id().expect("known"), db.row(original.id().expect("known")).await);

    let fork = original.restart_from(Print { number: 7, paper: true }).await.expect("starts");
    assert!(fork.is_new() && fork.id() != Some(id));
    assert_eq!(fork.wait().timeout(LONG).await.expect("ends"), "red for ada at 140");
    let shown = fork.show().await.expect("stands");
    assert_eq!((shown.key.as_deref(), shown.key_kept), (Some("book:7"), false));
    assert_eq!((shown.home_queue.as_deref(), shown.home_priority), (Some("bindery"), Some(3)));
    let ran: Vec<_> = fork.history().await.expect("its history").into_iter().map(|line| line.from).collect();
    assert_eq!(ran, ["print", "dry", "bind"]);

    assert_eq!(db.row(id).await, before, "the original stays as it is");
    assert_eq!(original.history().await.expect("its history").len(), 2);
    // Its key was given up again: a second fork has it now.
    let second = work.client.restart_from(id, Bind { colour: "blue".into() }).await.expect("starts");
    assert_eq!(second.wait().timeout(LONG).await.expect("ends"), "blue for ada at 120");
    nothing_lost(&db, &[second.id().expect("known")]).await;
    work.stop().await;
}

async fn a_fork_enters_its_step_by_the_rules_that_stand_on_it(db: Db) {
    let client = client(&db);
    // It stands at a step without rules, with a signal that it has not seen; nobody works here.
    db.run("INSERT INTO gen_durable (fsm, fsm_version, step, status, state, carry) VALUES ('book', 2, 'bind', 'runnable', '{\"colour\": \"x\"}', '{\"customer\": \"eve\", \"cents\": 5}')").await;
    let original = client.by_id::<Book>(InstanceId::new(1));
    original.signal(Approved {}).await.expect("delivers");

    let proof = original.restart_from(Proof { number: 1 }).await.expect("starts").show().await.expect("stands");
    assert_eq!((proof.status, proof.awaits.as_slice()), (Status::AwaitingSignal, &["approved".to_owned()][..]));
    let left = proof.await_deadline.expect("it is bounded").duration_since(proof.inserted_at);
    assert_eq!(left.as_secs(), 3_600);
    let dry = original.restart_from(Dry { rest: LONG }).await.expect("starts").show().await.expect("stands");
    assert_eq!((dry.status, dry.queue.as_str(), dry.priority), (Status::Runnable, "default", 0));
    assert_eq!(dry.eligible_at.duration_since(dry.inserted_at).as_secs(), 60);
    original.restart_from(Print { number: 9, paper: true }).await.expect("starts");
    assert_eq!(db.text("SELECT concurrency_key FROM gen_durable WHERE step = 'print'").await, "press:9");
    let bind = original.restart_from(Bind { colour: "y".into() }).await.expect("starts").show().await.expect("stands");
    assert_eq!((bind.queue.as_str(), bind.priority, bind.home_queue.as_deref()), ("bindery", -1, None));
    let carries = "SELECT count(*) FROM gen_durable WHERE carry IS NOT NULL AND correlation_key IS NULL";
    assert_eq!(db.count(carries).await, 5);
    assert_eq!(db.count("SELECT count(*) FROM signals WHERE target_id <> 1").await, 0);

    // The exits of its machine are open to it, and its deadline is its own.
    let ask = client.start(start(Ask { number: 7 })).await.expect("starts");
    db.run("UPDATE gen_durable SET deadline_at = now() - interval '1 min', status = 'done' WHERE fsm = 'permit'").await;
    let grant = ask.restart_from(Grant { number: 7 }).await.expect("starts");
    let shown = grant.show().await.expect("stands");
    assert_eq!(shown.deadline.expect("it has one").duration_since(shown.inserted_at).as_secs(), 7_200);
    grant.signal(Approved {}).await.expect("delivers");
    let work = Work::on(&db).await;
    assert_eq!(grant.wait().timeout(LONG).await.expect("ends"), 1, "the signal led it away");
    work.stop().await;
}

async fn an_original_that_lives_or_keeps_its_key_is_not_forked(db: Db) {
    let work = Work::on(&db).await;
    let order = start(Order { number: 1, proof: true }).carry(bill("bob"));
    let parked = work.client.start(order).await.expect("starts");
    parked.wait_parked().timeout(LONG).await.expect("parks");
    let refused = work.client.of::<Book>(1).restart_from(Bind { colour: "x".into() }).await.expect_err("it lives");
    assert!(refused.is_duplicate(), "{refused}");
    assert!(refused.to_string().contains(&format!("instance {}", parked.id().expect("known"))), "{refused}");

    let deed = work.client.start(start(Draw { number: 4 })).await.expect("starts");
    deed.wait().timeout(LONG).await.expect("ends");
    assert!(deed.show().await.expect("stands").key_kept);
    assert!(deed.restart_from(Sealed { number: 5 }).await.expect_err("its key is kept").is_duplicate());

    // Its key has a newer occupant.
    parked.cancel("late").await.expect("asks");
    parked.wait().timeout(LONG).await.expect_err("cancelled");
    let order = start(Order { number: 1, proof: true }).carry(bill("cleo"));
    let newer = work.client.start(order).await.expect("starts").id().expect("known");
    let refused = parked.restart_from(Bind { colour: "x".into() }).await.expect_err("the key is taken");
    assert!(refused.is_duplicate() && refused.to_string().contains(&format!("instance {newer}")), "{refused}");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 3);
    work.stop().await;
}

async fn of_two_forks_at_once_one_gets_the_key(db: Db) {
    let work = Work::on(&db).await;
    let order = start(Order { number: 3, proof: false }).carry(bill("dan"));
    let original = work.client.start(order).await.expect("starts");
    original.wait().timeout(LONG).await.expect_err("there is no paper");
    for round in 0..10_u32 {
        let fork = || original.restart_from(Dry { rest: Duration::from_secs(3_600) });
        let (one, other) = tokio::join!(fork(), fork());
        let (won, lost) = match (one, other) {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            both => panic!("round {round}: {both:?}"),
        };
        assert!(lost.is_duplicate(), "round {round}: {lost}");
        won.cancel("again").await.expect("asks");
        won.wait().timeout(LONG).await.expect_err("cancelled");
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 11);
    work.stop().await;
}

async fn a_fork_of_a_child_is_nobodys_child(db: Db) {
    let work = Work::on(&db).await;
    let choir = work.client.start(start(Gathered { singers: 1 })).await.expect("starts");
    choir.wait_parked().timeout(LONG).await.expect("parks");
    let id = choir.id().expect("known");
    let child = InstanceId::new(db.count("SELECT id FROM gen_durable WHERE parent_id IS NOT NULL").await);
    let fork = work.client.restart_from(child, Singer { voice: 9 }).await.expect("starts");
    fork.signal(Approved {}).await.expect("delivers");
    assert_eq!(fork.wait().timeout(LONG).await.expect("ends"), 9);
    let standing = "SELECT status::text || ' ' || children_pending FROM gen_durable ORDER BY id LIMIT 1";
    assert_eq!(db.text(standing).await, "awaiting_children 1");
    work.client.by_id::<Choir>(child).signal(Approved {}).await.expect("delivers");
    assert_eq!(choir.wait().timeout(LONG).await.expect("ends"), 1);
    nothing_lost(&db, &[id, fork.id().expect("known")]).await;
    work.stop().await;
}

async fn a_fork_of_an_older_version_is_of_the_new_one(db: Db) {
    let work = Work::on(&db).await;
    db.run("INSERT INTO gen_durable (fsm, fsm_version, step, status, state, carry) VALUES ('book', 1, 'write', 'failed', '{\"number\": 1}', '\"old ann\"')").await;
    let old = work.client.by_id::<Book>(InstanceId::new(1));
    let fork = old.restart_from(Bind { colour: "grey".into() }).await.expect("starts");
    assert_eq!(fork.wait().timeout(LONG).await.expect("ends"), "grey for old ann at 0");
    assert_eq!(fork.show().await.expect("stands").version, 2);
    work.stop().await;
}

async fn what_cannot_be_forked_says_why_and_starts_nothing(db: Db) {
    let client = client(&db);
    let colour = || Bind { colour: "x".into() };
    assert!(client.restart_from(InstanceId::new(7), colour()).await.expect_err("none").is_not_found());
    db.run(
        "INSERT INTO gen_durable (fsm, fsm_version, step, status, state) VALUES ('deed', 1, 'sealed', 'done', '{}')",
    )
    .await;
    let other = client.restart_from(InstanceId::new(1), colour()).await.expect_err("another machine");
    assert!(other.to_string().contains("is of machine `deed`, not of `book`"), "{other}");
    let row = "INSERT INTO gen_durable (fsm, fsm_version, step, status, state, carry) VALUES ('book', ";
    db.run(format!("{row} 9, 'bind', 'done', '{{}}', '{{}}')").as_str()).await;
    let newer = client.restart_from(InstanceId::new(2), colour()).await.expect_err("a newer version");
    assert_eq!(newer.field(), Some("version"), "{newer}");
    db.run(format!("{row} 2, 'bind', 'done', '{{}}', '[]')").as_str()).await;
    let broken = client.restart_from(InstanceId::new(3), colour()).await.expect_err("no such carry");
    assert_eq!(broken.field(), Some("carry"), "{broken}");
    db.run(format!("{row} 2, 'bind', 'done', '{{}}', '{{\"customer\": \"a\", \"cents\": 1}}')").as_str()).await;
    let late = client.restart_from(InstanceId::new(4), Dry { rest: Duration::MAX }).await.expect_err("too long");
    assert_eq!(late.field(), Some("timeout"), "{late}");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 4);
}
