//! The checkout: an enum of steps, and what is done at each.

use std::time::Duration;

use gen_durable::{Failed, prelude::*};
use serde::{Deserialize, Serialize};

use crate::{
    carrier::Refused,
    shop::{OutOfStock, Shop},
};

/// The bank has the money.
#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct PaymentConfirmed {
    pub payment: u64,
}

/// The bank said no.
#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct PaymentDeclined {
    pub reason: String,
}

/// One step of an order at a time. An order has one instance, so the machine needs no lock for its own sake; other
/// machines (a refund, a change of address) would share this one.
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct OrderLock;

/// What became of an order that did not fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Receipt {
    /// The parcel is on its way.
    Shipped { payment: u64, tracking: String, attempts: u32 },
    /// Nothing was sent, the stock is free again, a payment goes back.
    Released { because: Because, payment: Option<u64> },
}

/// Why an order was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    NobodyPaid,
    Declined { reason: String },
    NotShipped { error: String, attempts: u32 },
}

/// An order, from its start to its receipt. `kept`: an order number is used once, also after its order has ended.
#[durable_fsm(version = 1, queue = "checkout", output(Receipt), handler(Shop), concurrency(OrderLock, by(order)))]
pub enum Checkout {
    /// Holds the stock.
    #[step(start, key(order, kept), next(AwaitPayment), fail)]
    Reserve {
        order: u64,
        item: String,
        pieces: u32,
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        patience: Duration,
    },
    /// Waits for the bank, as long as the customer was given.
    #[step(await(PaymentConfirmed, PaymentDeclined), timeout(patience), next(Ship, Release))]
    AwaitPayment {
        order: u64,
        hold: i64,
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        patience: Duration,
    },
    /// Hands the parcel to the carrier, who is not always there.
    #[step(retry(attempts = 5, backoff = "200ms"), catch(Release), done)]
    Ship { order: u64, hold: i64, payment: u64 },
    /// Compensation: calls the parcel back, if there is one, and frees the stock.
    #[step(concurrency(none), done)]
    Release { order: u64, hold: i64, because: Because, payment: Option<u64> },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, cx: &StepContext) -> StepResult<Reserve> {
        let Reserve { order, item, pieces, patience } = step;
        // The key makes the hold one hold, however often a crash makes this step run.
        Ok(match self.hold(order, &item, pieces, &cx.idempotency_key()).await? {
            Ok(hold) => goto(AwaitPayment { order, hold, patience }),
            Err(OutOfStock) => fail(format!("out of stock: {pieces} {item}")),
        })
    }

    async fn await_payment(
        &self,
        step: AwaitPayment,
        signal: Result<AwaitPaymentSignal, TimedOut>,
        _cx: &StepContext,
    ) -> StepResult<AwaitPayment> {
        let AwaitPayment { order, hold, .. } = step;
        let because = match signal {
            Ok(AwaitPaymentSignal::PaymentConfirmed(paid)) => {
                return Ok(goto(Ship { order, hold, payment: paid.payment }));
            }
            Ok(AwaitPaymentSignal::PaymentDeclined(declined)) => Because::Declined { reason: declined.reason },
            Err(TimedOut) => Because::NobodyPaid,
        };
        Ok(goto(Release { order, hold, because, payment: None }))
    }

    async fn ship(&self, step: Ship, cx: &StepContext) -> StepResult<Ship> {
        let pieces = self.pieces(step.hold).await?;
        // An error does not say whether the parcel was booked: the carrier tells by the key, the same at every attempt.
        let booked = self.carrier().book(step.order, pieces, &cx.idempotency_key()).await?;
        let tracking = booked.map_err(|Refused(reason)| format!("refused: {reason}")).permanent()?;
        self.sell(step.hold).await?;
        Ok(done(Receipt::Shipped { payment: step.payment, tracking, attempts: cx.attempt() + 1 }))
    }

    async fn release(&self, step: Release, _cx: &StepContext) -> StepResult<Release> {
        // The last attempt may have failed after the carrier had booked.
        self.carrier().recall(step.order).await?;
        self.free(step.hold).await?;
        Ok(done(Receipt::Released { because: step.because, payment: step.payment }))
    }
}

/// What `catch(Release)` asks for.
impl From<Failed<Ship>> for Release {
    fn from(failed: Failed<Ship>) -> Self {
        let Ship { order, hold, payment } = failed.step;
        let because = Because::NotShipped { error: failed.error, attempts: failed.attempts };
        Self { order, hold, because, payment: Some(payment) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: AwaitPayment = AwaitPayment { order: 7, hold: 3, patience: Duration::from_secs(60) };

    /// Steps that do not touch the database need none.
    async fn after(signal: Result<AwaitPaymentSignal, TimedOut>) -> Outcome<AwaitPayment> {
        Shop::unconnected().await_payment(STEP, signal, &StepContext::test()).await.expect("it decides")
    }

    #[tokio::test]
    async fn a_confirmed_payment_is_shipped() {
        let outcome = after(Ok(AwaitPaymentSignal::PaymentConfirmed(PaymentConfirmed { payment: 9 }))).await;
        assert!(matches!(outcome.target(), Some(Checkout::Ship { order: 7, hold: 3, payment: 9 })));
    }

    #[tokio::test]
    async fn a_declined_payment_frees_the_stock() {
        let declined = PaymentDeclined { reason: "no funds".into() };
        let outcome = after(Ok(AwaitPaymentSignal::PaymentDeclined(declined))).await;
        let Some(Checkout::Release { order: 7, hold: 3, because, payment: None }) = outcome.target() else {
            panic!("not released")
        };
        assert_eq!(*because, Because::Declined { reason: "no funds".into() });
    }

    #[tokio::test]
    async fn a_payment_that_does_not_come_frees_the_stock() {
        let outcome = after(Err(TimedOut)).await;
        let Some(Checkout::Release { hold, because, .. }) = outcome.target() else { panic!("not released") };
        assert_eq!((*hold, because), (3, &Because::NobodyPaid));
    }

    #[test]
    fn an_order_that_cannot_be_shipped_is_released_with_its_payment() {
        let failed = Failed::new(Ship { order: 7, hold: 3, payment: 9 }, (), "no answer", 5);
        let Release { order, hold, because, payment } = failed.into();
        assert_eq!((order, hold, payment), (7, 3, Some(9)));
        assert_eq!(because, Because::NotShipped { error: "no answer".into(), attempts: 5 });
    }
}
