//! The example of the design, compiled as it is, and run.

use std::sync::Arc;

use gen_durable::{Failed, prelude::*};
use language::Instance;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct PaymentConfirmed {
    pub payment: u64,
}
#[derive(Serialize, Deserialize, Signal)]
pub struct PaymentDeclined {
    pub reason: String,
}
#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct OrderLock;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub order: u64,
    pub payment: Option<u64>,
}

#[durable_fsm(version = 1, queue = "checkout", output(Receipt), handler(Shop), concurrency(OrderLock, by(order)))]
pub enum Checkout {
    /// Holds the stock.
    #[step(start, key(order), next(AwaitPayment))]
    Reserve { order: u64, warehouse: u64 },
    #[step(await(PaymentConfirmed, PaymentDeclined), timeout = "15m", next(Ship, Release))]
    AwaitPayment { order: u64, warehouse: u64, hold: u64 },
    #[step(rate_limit(Carrier, by(warehouse), weight = 2), retry(attempts = 5, backoff = "2s"), catch(Release), done)]
    Ship { order: u64, warehouse: u64, hold: u64, payment: u64 },
    /// Compensation: frees the stock.
    #[step(done, concurrency(none))]
    Release { order: u64, hold: u64 },
}

impl From<Failed<Ship>> for Release {
    fn from(failed: Failed<Ship>) -> Self {
        Release { order: failed.step.order, hold: failed.step.hold }
    }
}

pub struct Shop;

impl Shop {
    async fn hold(&self, order: u64) -> Result<u64, std::num::ParseIntError> {
        format!("{order}7").parse()
    }
    async fn pick(&self, sku: &str) -> Result<u64, std::io::Error> {
        Ok(sku.len() as u64)
    }
    fn give_up<S: Transition<Release>>(&self, order: u64, hold: u64) -> Outcome<S> {
        goto(Release { order, hold })
    }
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        let hold = self.hold(step.order).await?;
        Ok(goto(AwaitPayment { order: step.order, warehouse: step.warehouse, hold }))
    }
    async fn await_payment(
        &self,
        step: AwaitPayment,
        signal: Result<AwaitPaymentSignal, TimedOut>,
        _cx: &StepContext,
    ) -> StepResult<AwaitPayment> {
        let AwaitPayment { order, warehouse, hold } = step;
        Ok(match signal {
            Ok(AwaitPaymentSignal::PaymentConfirmed(p)) => goto(Ship { order, warehouse, hold, payment: p.payment }),
            Ok(AwaitPaymentSignal::PaymentDeclined(_)) | Err(TimedOut) => self.give_up(order, hold),
        })
    }
    async fn ship(&self, step: Ship, cx: &StepContext) -> StepResult<Ship> {
        let _ = cx.idempotency_key();
        Ok(done(Receipt { order: step.order, payment: Some(step.payment) }))
    }
    async fn release(&self, step: Release, _cx: &StepContext) -> StepResult<Release> {
        Ok(done(Receipt { order: step.order, payment: None }))
    }
}

#[durable_job(retry(attempts = 3))]
async fn pick_item(shop: &Shop, sku: String) -> Result<u64, StepError> {
    Ok(shop.pick(&sku).await?)
}

#[durable_job]
async fn audit(_shop: &Shop, what: String, cx: &StepContext) -> Result<(), StepError> {
    let _ = (what, cx.id());
    Ok(())
}

#[durable_fsm(output(u64), handler(Shop))]
pub enum Fulfil {
    #[step(start, spawn(Audit), next(Collect))]
    Split { skus: Vec<String> },
    #[step(join(PickItem), done)]
    Collect { expected: usize },
}

impl FulfilSteps for Shop {
    async fn split(&self, step: Split, _cx: &StepContext) -> StepResult<Split> {
        let expected = step.skus.len();
        Ok(fan_out(Collect { expected })
            .children(step.skus.into_iter().map(PickItem::start))
            .spawn(Audit::start("split".into()))
            .into())
    }
    async fn collect(&self, _step: Collect, children: Joined<PickItem>, _cx: &StepContext) -> StepResult<Collect> {
        Ok(done(children.results().await?.iter().sum()))
    }
}

#[test]
fn a_handler_is_called_without_a_database() {
    let cx = StepContext::test();
    let outcome = language::block_on(Shop.reserve(Reserve { order: 1, warehouse: 2 }, &cx)).unwrap();
    assert!(matches!(outcome.target(), Some(Checkout::AwaitPayment { order: 1, warehouse: 2, hold: 17 })));
}

#[test]
fn checkout_runs_to_its_receipt() {
    let shop = Arc::new(Shop);
    let mut order = Instance::start(start(Reserve { order: 1, warehouse: 2 }));
    assert_eq!(order.key.as_deref(), Some("checkout:1"));
    assert_eq!(order.concurrency().as_deref(), Some("order_lock:1"));
    order.run(&shop);
    assert_eq!(order.step, "await_payment");
    order.send(&PaymentConfirmed { payment: 9 });
    order.run(&shop);
    assert_eq!(order.result::<Checkout>(), Receipt { order: 1, payment: Some(9) });
}

#[test]
fn a_timeout_and_a_decline_compensate() {
    let shop = Arc::new(Shop);
    for decline in [true, false] {
        let mut order = Instance::start(start(Reserve { order: 1, warehouse: 2 }));
        order.run(&shop);
        if decline {
            order.send(&PaymentDeclined { reason: "no".into() })
        } else {
            order.time_out()
        }
        order.run(&shop);
        assert_eq!(order.result::<Checkout>(), Receipt { order: 1, payment: None });
    }
}

#[test]
fn children_and_spawned_instances_are_described() {
    let shop = Arc::new(Shop);
    let mut fulfil = Instance::start(start(Split { skus: vec!["a".into(), "bc".into()] }));
    fulfil.run(&shop);
    assert_eq!(fulfil.step, "collect");
    let started: Vec<_> = fulfil.children.iter().map(|c| (c.machine, c.entry.state.as_str())).collect();
    assert_eq!(started, [("pick_item", r#"{"sku":"a"}"#), ("pick_item", r#"{"sku":"bc"}"#)]);
    assert_eq!(fulfil.spawned[0].machine, "audit");
    fulfil.run_children(&shop);
    fulfil.run(&shop);
    assert_eq!(fulfil.result::<Fulfil>(), 3);
}

#[test]
fn the_registry_knows_machines_and_handlers() {
    use gen_durable_runtime::machine::registry;
    let names: Vec<_> = registry::machines().map(|m| (m.info)().name).collect();
    for name in ["checkout", "fulfil", "pick_item", "audit"] {
        assert!(names.contains(&name), "{name}");
    }
    assert_eq!(registry::handlers().count(), 4);
    let info = Checkout::INFO;
    assert_eq!(info.queue, "checkout");
    assert_eq!(info.rust_path, "example::Checkout");
    let ship = info.step("ship").unwrap();
    assert_eq!((ship.retry.attempts, ship.catch), (5, Some("release")));
    assert_eq!(ship.rate_limit.unwrap().weight, Some(2));
    assert_eq!(ship.concurrency.unwrap().name, "order_lock");
    assert!(info.step("release").unwrap().concurrency.is_none());
    assert_eq!(info.step("reserve").unwrap().doc, "Holds the stock.");
}
