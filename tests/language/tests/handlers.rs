//! Who serves a machine: a generic type, a fake in a test, helpers that several steps call; and every way to return.
#![deny(warnings)]
#![allow(missing_debug_implementations)]

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use gen_durable::{Failed, ServedBy, prelude::*};
use gen_durable_runtime::machine::registry::{self, HandlerRegistration};
use language::{End, Instance, block_on};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Paid {
    pub payment: u64,
}

/// No `handler(..)`: the machine itself is free of who serves it.
#[durable_fsm(output(u64), steps(derive(Debug, Clone, PartialEq)))]
#[derive(Debug, Clone, PartialEq)]
pub enum Checkout {
    #[step(start, key(order), next(Pay, Release))]
    Reserve { order: u64 },
    #[step(await(Paid), timeout = "15m", next(Ship, Release))]
    Pay { order: u64, hold: u64 },
    #[step(next(Release), catch(Release), retry(attempts = 2), done)]
    Ship { order: u64, hold: u64 },
    #[step(done, fail)]
    Release { hold: u64 },
}

impl From<Failed<Ship>> for Release {
    fn from(failed: Failed<Ship>) -> Self {
        Self { hold: failed.step.hold }
    }
}

/// What a shop is built on.
pub trait Stock: Send + Sync + 'static {
    fn hold(&self, order: u64) -> impl Future<Output = Result<u64, OutOfStock>> + Send;
}

#[derive(Debug, PartialEq)]
pub struct OutOfStock;
impl fmt::Display for OutOfStock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of stock")
    }
}
impl std::error::Error for OutOfStock {}

/// A generic handler, with helpers that any step with that edge may call.
pub struct Generic<T>(T);

impl<T: Stock> Generic<T> {
    fn give_up<S: Step<Machine = Checkout> + Transition<Release>>(&self, hold: u64) -> Outcome<S> {
        goto(Release { hold })
    }
    async fn give_up_later<S>(&self, hold: u64, _: &StepContext) -> StepResult<S>
    where
        S: Transition<Release, Machine = Checkout>,
    {
        Ok(goto_after(Release { hold }, Duration::from_secs(60)))
    }
    fn end<S: gen_durable::Ends + Step<Machine = Checkout>>(&self, result: u64) -> StepResult<S> {
        Ok(done(result))
    }
}

impl<T: Stock> CheckoutSteps for Generic<T> {
    async fn reserve(&self, step: Reserve, cx: &StepContext) -> StepResult<Reserve> {
        match self.0.hold(step.order).await {
            Ok(hold) => Ok(goto(Pay { order: step.order, hold })),
            Err(OutOfStock) => self.give_up_later(0, cx).await,
        }
    }
    async fn pay(&self, step: Pay, signal: Result<Paid, TimedOut>, _: &StepContext) -> StepResult<Pay> {
        Ok(match signal {
            Ok(_) => goto(Ship { order: step.order, hold: step.hold }),
            Err(TimedOut) => self.give_up(step.hold),
        })
    }
    async fn ship(&self, step: Ship, _: &StepContext) -> StepResult<Ship> {
        match step.order {
            0 => Err(OutOfStock)?,
            1 => Ok(self.give_up(step.hold)),
            order => self.end(order),
        }
    }
    async fn release(&self, step: Release, _: &StepContext) -> StepResult<Release> {
        self.end(step.hold)
    }
}

/// Two stocks; a machine is served by the generic type over either.
pub struct Memory;
impl Stock for Memory {
    async fn hold(&self, order: u64) -> Result<u64, OutOfStock> {
        if order == 13 { Err(OutOfStock) } else { Ok(order * 10) }
    }
}
pub struct Queue(Mutex<VecDeque<Result<u64, OutOfStock>>>);
impl Stock for Queue {
    async fn hold(&self, _: u64) -> Result<u64, OutOfStock> {
        self.0.lock().unwrap().pop_front().unwrap_or(Err(OutOfStock))
    }
}

/// As `Worker::serve::<Checkout, _>(handler)` asks.
fn serve<M: ServedBy<E>, E: Send + Sync + 'static>(_: impl Into<Arc<E>>) -> HandlerRegistration {
    HandlerRegistration::of::<M, E>()
}

#[test]
fn a_generic_type_serves() {
    let registration = serve::<Checkout, _>(Generic(Memory));
    assert!((registration.handler)().1.ends_with("Generic<handlers::Memory>"));
    let over_a_queue = serve::<Checkout, Generic<Queue>>(Arc::new(Generic(Queue(Mutex::default()))));
    assert_ne!((registration.handler)().0, (over_a_queue.handler)().0);
    assert_eq!((registration.machine)(), (over_a_queue.machine)());
}

gen_durable::register!(Checkout => Generic<Memory>);

#[test]
fn a_generic_type_is_registered_and_runs() {
    assert!(registry::handlers().any(|h| (h.handler)().1.ends_with("Generic<handlers::Memory>")));
    let shop = Arc::new(Generic(Memory));
    let run = |order: u64, paid: bool| {
        let mut checkout = Instance::start(start(Reserve { order }));
        checkout.run(&shop);
        if paid {
            checkout.send(&Paid { payment: 1 })
        } else {
            checkout.time_out()
        }
        checkout.run(&shop);
        checkout.result::<Checkout>()
    };
    assert_eq!([run(7, true), run(7, false), run(1, true), run(0, true), run(13, true)], [7, 70, 10, 0, 0]);
}

/// A fake that answers what a test says and keeps what it was asked.
#[derive(Default)]
struct Fake(Mutex<Vec<Checkout>>);

impl Fake {
    fn asked(&self, step: impl Step<Machine = Checkout>) {
        self.0.lock().unwrap().push(step.into_machine());
    }
}

impl CheckoutSteps for Fake {
    async fn reserve(&self, step: Reserve, _: &StepContext) -> StepResult<Reserve> {
        let order = step.order;
        self.asked(step);
        Ok(goto(Pay { order, hold: 1 }))
    }
    async fn pay(&self, step: Pay, _: Result<Paid, TimedOut>, _: &StepContext) -> StepResult<Pay> {
        self.asked(step);
        Ok(retry_in(Duration::from_secs(1)))
    }
    async fn ship(&self, _: Ship, _: &StepContext) -> StepResult<Ship> {
        unreachable!("the test does not go so far")
    }
    async fn release(&self, _: Release, _: &StepContext) -> StepResult<Release> {
        Ok(fail("released"))
    }
}

gen_durable::register!(Checkout => Fake);

#[test]
fn a_fake_serves_in_a_test() {
    let fake = Arc::new(Fake::default());
    let mut checkout = Instance::start(start(Reserve { order: 5 }));
    checkout.run(&fake);
    assert_eq!((checkout.step.as_str(), checkout.attempt), ("pay", 0));
    assert_eq!(*fake.0.lock().unwrap(), [Checkout::Reserve { order: 5 }]);
}

#[test]
fn handlers_are_called_by_hand() {
    let (shop, cx) = (Generic(Memory), StepContext::test());
    let reserved = block_on(shop.reserve(Reserve { order: 2 }, &cx)).unwrap();
    assert_eq!(reserved.target(), Some(&Checkout::Pay { order: 2, hold: 20 }));
    let later = block_on(shop.reserve(Reserve { order: 13 }, &cx)).unwrap();
    assert_eq!((later.target(), later.delay()), (Some(&Checkout::Release { hold: 0 }), Some(Duration::from_secs(60))));
    let released = block_on(Fake::default().release(Release { hold: 1 }, &cx)).unwrap();
    assert_eq!(released.reason(), Some("released"));
    let error = block_on(shop.ship(Ship { order: 0, hold: 1 }, &cx)).unwrap_err();
    assert_eq!(error.source().downcast_ref::<OutOfStock>(), Some(&OutOfStock));
}

/// Every error that `?` meets in a handler.
#[derive(Debug)]
enum Custom {
    Io(std::io::Error),
    Parse,
}
impl fmt::Display for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("custom")
    }
}
impl std::error::Error for Custom {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Parse => None,
        }
    }
}

struct Errors;

#[durable_fsm(handler(Errors), output(String), carry(Vec<String>))]
enum Asks {
    #[step(start, done, fail, retry(attempts = 1), next(Asked, Joins), spawn(Answer))]
    Asked { how: String },
    #[step(join(Answer), done)]
    Joins,
}

#[durable_job(retry(attempts = 1))]
async fn answer(_: &Errors, how: String) -> Result<u8, std::num::ParseIntError> {
    how.parse()
}

fn io() -> std::io::Result<()> {
    Err(std::io::Error::other("no disk"))
}

impl AsksSteps for Errors {
    async fn asked(&self, step: Asked, carry: &mut Vec<String>, cx: &StepContext) -> StepResult<Asked> {
        carry.push(step.how.clone());
        let how = step.how.as_str();
        match how {
            "io" => io()?,
            "parse" => drop("x".parse::<u8>()?),
            "json" => drop(serde_json::from_str::<u8>("{")?),
            "utf8" => drop(String::from_utf8(vec![255])?),
            "custom" => Err(Custom::Io(io().unwrap_err()))?,
            "other custom" => Err(Custom::Parse)?,
            "text" => Err("said")?,
            "string" => Err(format!("said {}", cx.attempt()))?,
            "boxed" => Err(Box::<dyn std::error::Error + Send + Sync>::from("boxed"))?,
            "own" => Err(StepError::new("own"))?,
            "permanent" => io().permanent()?,
            "none" => drop(None::<u8>.ok_or("nothing")?),
            "fail" => return Ok(fail(Custom::Parse)),
            "goto" => return Ok(goto_after(Asked { how: "done".into() }, Duration::ZERO)),
            "children" => return Ok(fan_out(Joins).children([Answer::start("x".into())]).into()),
            "mixed" => {
                let first = Answer::start("1".into()).delay(Duration::from_secs(1)).priority(-1);
                let out = fan_out(Joins).children([Answer::start("2".into())]).children(vec![first]);
                return Ok(out.spawn(Answer::start("3".into())).into());
            }
            _ => {}
        }
        Ok(done(carry.join(",")))
    }
    async fn joins(
        &self,
        _: Joins,
        children: Joined<Answer>,
        _: &mut Vec<String>,
        _: &StepContext,
    ) -> StepResult<Joins> {
        let sum: u8 = children.results().await?.iter().sum();
        Ok(done(sum.to_string()))
    }
}

fn ask(how: &str) -> Instance {
    let errors = Arc::new(Errors);
    let mut asks = Instance::start(start(Asked { how: how.into() }));
    asks.run(&errors);
    asks.run_children(&errors);
    asks.run(&errors);
    asks
}

#[test]
fn any_error_becomes_the_steps() {
    let said = |how| match ask(how).end {
        Some(End::Failed(reason)) => reason,
        other => panic!("{how}: {other:?}"),
    };
    assert_eq!(said("io"), "no disk");
    assert_eq!(said("parse"), "invalid digit found in string");
    assert!(said("json").ends_with("at line 1 column 0"), "{}", said("json"));
    assert!(said("utf8").starts_with("invalid utf-8 sequence"));
    assert_eq!(said("custom"), "custom: no disk");
    assert_eq!(said("other custom"), "custom");
    assert_eq!((said("text"), said("string"), said("boxed")), ("said".into(), "said 0".into(), "boxed".into()));
    assert_eq!((said("own"), said("permanent"), said("none")), ("own".into(), "no disk".into(), "nothing".into()));
    assert_eq!(said("fail"), "custom");
    assert_eq!(said("children"), "child 1 failed: invalid digit found in string");
}

#[test]
fn every_outcome_is_returned() {
    let result = |how| ask(how).result::<Asks>();
    assert_eq!((result("done"), result("goto"), result("mixed")), ("done".into(), "goto,done".into(), "3".into()));
    assert_eq!(ask("mixed").spawned.len(), 1);
}
