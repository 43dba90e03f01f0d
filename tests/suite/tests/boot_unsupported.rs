//! What the annotation says and this worker cannot honour: never ignored in silence. What it can, it serves.
#![allow(unreachable_pub)]

use gen_durable::{Cancelled, Client, Expired, Received, Slot, prelude::*};
use serde::{Deserialize, Serialize};
use suite::Db;

suite::stores! {
    both {
        what_cannot_be_honoured_refuses_to_boot_and_is_named,
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Stop {}
#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Also {}
#[derive(RateLimit)]
#[rate_limit(allowed = 10, per = "1s")]
pub struct Slow;
#[derive(ConcurrencyKey)]
#[concurrency(limit = 3)]
pub struct Three;

pub struct Hands;

#[durable_job]
pub async fn child(_hands: &Hands, n: u32) -> Result<u32, StepError> {
    Ok(n)
}

#[durable_fsm(handler(Hands), on_cancel(End), deadline = "1h", on_deadline(End), on(Stop, End), retention(done = "7d"))]
pub enum Everything {
    #[step(start, next(Gather, Both, Many, Pick), spawn(Child))]
    Begin,
    #[step(join(Child), next(End))]
    Gather,
    #[step(await(all(Stop, Also)), next(End))]
    Both,
    #[step(await(Stop, count = 2), next(End))]
    Many,
    #[step(await(Stop, Also, biased), next(Limited))]
    Pick,
    #[step(rate_limit(Slow), concurrency(Three), next(End))]
    Limited,
    #[step(done)]
    End,
}

#[durable_fsm(handler(Hands), store = "sqlite", endless(dedup = "7d"))]
pub enum Clock {
    #[step(start, every = "1h", next(Tick))]
    Tick,
}

#[durable_fsm(handler(Hands), store = "postgres")]
pub enum Ledger {
    #[step(start, done)]
    Book,
}

impl From<Cancelled<Everything>> for End {
    fn from(_: Cancelled<Everything>) -> Self {
        Self
    }
}
impl From<Expired<Everything>> for End {
    fn from(_: Expired<Everything>) -> Self {
        Self
    }
}
impl From<Received<Everything, Stop>> for End {
    fn from(_: Received<Everything, Stop>) -> Self {
        Self
    }
}
impl From<Slot> for Tick {
    fn from(_: Slot) -> Self {
        Self
    }
}

impl EverythingSteps for Hands {
    async fn begin(&self, _: Begin, _: &StepContext) -> StepResult<Begin> {
        Ok(goto(Both))
    }
    async fn gather(&self, _: Gather, _: Joined<Child>, _: &StepContext) -> StepResult<Gather> {
        Ok(goto(End))
    }
    async fn both(&self, _: Both, _: BothSignals, _: &StepContext) -> StepResult<Both> {
        Ok(goto(End))
    }
    async fn many(&self, _: Many, _: Vec<Stop>, _: &StepContext) -> StepResult<Many> {
        Ok(goto(End))
    }
    async fn pick(&self, _: Pick, _: PickSignal, _: &StepContext) -> StepResult<Pick> {
        Ok(goto(Limited))
    }
    async fn limited(&self, _: Limited, _: &StepContext) -> StepResult<Limited> {
        Ok(goto(End))
    }
    async fn end(&self, _: End, _: &StepContext) -> StepResult<End> {
        Ok(done(()))
    }
}
impl LedgerSteps for Hands {
    async fn book(&self, _: Book, _: &StepContext) -> StepResult<Book> {
        Ok(done(()))
    }
}
impl ClockSteps for Hands {
    async fn tick(&self, _: Tick, _: &StepContext) -> StepResult<Tick> {
        Ok(goto_after(Tick, std::time::Duration::from_secs(3_600)))
    }
}

async fn what_cannot_be_honoured_refuses_to_boot_and_is_named(db: Db) {
    let client = Client::options(&db.url).open().expect("no connection is made");
    let error = Worker::new(client).handler(Hands).start().await.expect_err("refused");
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "nothing else stands in the way: {text}");
    let (machine, store) = if db.store.dialect() == "postgres" { ("clock", "sqlite") } else { ("ledger", "postgres") };
    let needs: Vec<&str> = text.lines().filter(|line| line.contains("needs store = ")).collect();
    assert_eq!(needs.len(), 1, "the other one may: {text}");
    let needed = format!("needs store = \"{store}\", and the database is {}", db.store.dialect());
    assert!(needs[0].contains(&format!("`{machine}`")) && needs[0].contains(&needed), "{text}");
    assert!(error.is_boot());
}
