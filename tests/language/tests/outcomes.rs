//! What a handler returns, and what becomes of it.
#![allow(missing_debug_implementations)]

use std::{sync::Arc, time::Duration};

use gen_durable::{Failed, prelude::*};
use gen_durable_runtime::model::Json;
use language::{End, Instance, block_on};
use serde::{Deserialize, Serialize};

pub struct App;

#[derive(Debug, Serialize, Deserialize)]
pub struct Deep(Vec<Deep>);

fn nested(levels: usize) -> Deep {
    (0..levels).fold(Deep(vec![]), |inner, _| Deep(vec![inner]))
}

#[durable_fsm(output(String), handler(App))]
pub enum Work {
    #[step(start, next(Keep, Sum), done, fail, retry(attempts = 3), catch(Mend), spawn(Child))]
    Try { what: String },
    #[step(done)]
    Keep { deep: Deep },
    #[step(done)]
    Mend { error: String, attempts: u32 },
    #[step(join(Child), done)]
    Sum,
}

impl From<Failed<Try>> for Mend {
    fn from(failed: Failed<Try>) -> Self {
        Mend { error: failed.error, attempts: failed.attempts }
    }
}

#[durable_job(retry(attempts = 1))]
pub async fn child(_app: &App, n: u32) -> Result<u32, StepError> {
    if n == 13 { Err(StepError::new("thirteen")) } else { Ok(n) }
}

impl WorkSteps for App {
    async fn try_(&self, step: Try, cx: &StepContext) -> StepResult<Try> {
        Ok(match step.what.as_str() {
            "error" => Err("again")?,
            "permanent" => Err("never").permanent()?,
            "later" if cx.attempt() < 2 => retry_in(Duration::from_secs(1)),
            "later" => done(format!("attempt {}", cx.attempt())),
            "fail" => fail("no"),
            "deep" => goto(Keep { deep: nested(200) }),
            "nul" => done("\0".into()),
            "spawn" => done("spawned".into()).spawn(Child::start(1).queue("side")),
            "children" => fan_out(Sum).children([1, 2].map(Child::start)).into(),
            "thirteen" => fan_out(Sum).children([1, 13].map(Child::start)).into(),
            "bad child" => fan_out(Sum).children([Child::start(1).queue("a:b")]).into(),
            other => panic!("{other}"),
        })
    }
    async fn keep(&self, _: Keep, _: &StepContext) -> StepResult<Keep> {
        unreachable!("it was never stored")
    }
    async fn mend(&self, step: Mend, _: &StepContext) -> StepResult<Mend> {
        Ok(done(format!("{} after {}", step.error, step.attempts)))
    }
    async fn sum(&self, _: Sum, children: Joined<Child>, _: &StepContext) -> StepResult<Sum> {
        assert!(children.complete());
        let sum: u32 = children.results().await?.into_iter().sum();
        Ok(done(sum.to_string()))
    }
}

fn run(what: &str) -> Instance {
    let mut work = Instance::start(start(Try { what: what.into() }));
    work.run(&Arc::new(App));
    work
}

#[test]
fn an_error_retries_and_then_catches() {
    assert_eq!(run("error").result::<Work>(), "again after 3");
}

#[test]
fn a_permanent_error_catches_at_once() {
    assert_eq!(run("permanent").result::<Work>(), "never after 1");
}

#[test]
fn a_retry_counts_as_an_attempt() {
    assert_eq!(run("later").result::<Work>(), "attempt 2");
}

#[test]
fn fail_ends_at_once() {
    assert_eq!(run("fail").end, Some(End::Failed("no".into())));
}

#[test]
fn what_cannot_be_stored_is_an_error_of_the_step() {
    for what in ["deep", "nul", "bad child"] {
        let work = run(what);
        assert_eq!(work.errors.len(), 3, "{what}");
        assert!(work.result::<Work>().ends_with("after 3"), "{what}");
    }
}

#[test]
fn a_start_rides_with_the_outcome() {
    let work = run("spawn");
    assert_eq!((work.spawned[0].machine, work.spawned[0].first_queue()), ("child", "side"));
}

#[test]
fn a_failed_child_is_permanent() {
    for (what, end) in [("children", End::Done(Json::stored("\"3\""))), ("thirteen", End::Failed(String::new()))] {
        let app = Arc::new(App);
        let mut work = run(what);
        work.run_children(&app);
        work.run(&app);
        match (work.end, end) {
            (Some(End::Failed(reason)), End::Failed(_)) => assert_eq!(reason, "child 2 failed: thirteen"),
            (ended, expected) => assert_eq!(ended, Some(expected)),
        }
    }
}

#[test]
fn an_outcome_tells_a_unit_test_what_it_does() {
    let handle = |what: &str| block_on(App.try_(Try { what: what.into() }, &StepContext::test()));
    assert!(matches!(handle("children").unwrap().target(), Some(Work::Sum)));
    assert_eq!(handle("spawn").unwrap().result().map(String::as_str), Some("spawned"));
    assert_eq!(handle("fail").unwrap().reason(), Some("no"));
    assert_eq!(handle("later").unwrap().delay(), Some(Duration::from_secs(1)));
    assert!(handle("permanent").unwrap_err().is_permanent());
}

#[test]
fn stored_data_that_does_not_decode_says_so() {
    let mut work = Instance::start(start(Try { what: "error".into() }));
    work.state = Json::stored(r#"{"what":7}"#);
    work.run(&Arc::new(App));
    assert!(work.errors[0].contains("state does not decode"), "{:?}", work.errors);
}
