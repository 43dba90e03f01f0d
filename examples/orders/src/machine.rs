//! The order: an enum of steps. What a step decides and what it writes into the service's own tables are one commit.

use std::{fmt, time::Duration};

use gen_durable::{Failed, prelude::*};
use serde::{Deserialize, Serialize};

use crate::{carrier::Refused, orders, shop::Shop};

/// The provider has the money. `event` is its name for this news.
#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Paid {
    pub event: String,
    pub payment: i64,
}

/// The provider said no.
#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Declined {
    pub event: String,
    pub reason: String,
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Receipt {
    Shipped { payment: i64, tracking: String },
    Released(Because),
}

/// Why an order was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    NotReserved { error: String },
    NobodyPaid,
    Declined { event: String, reason: String },
    NotShipped { error: String },
}

/// `kept`: an order number is used once, also after its order has ended.
#[durable_fsm(version = 1, queue = "orders", output(Receipt), handler(Shop))]
pub enum Order {
    /// Takes the pieces from the stock; when there are not enough, that is an error which no retry mends.
    #[step(start, key(order, kept), catch(Release), next(AwaitPayment))]
    Reserve {
        order: i64,
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        patience: Duration,
    },
    /// Waits for the provider's webhook, as long as the customer was given.
    #[step(await(Paid, Declined), timeout(patience), next(Ship, Release))]
    AwaitPayment {
        order: i64,
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        patience: Duration,
    },
    /// Hands the parcel to the carrier.
    #[step(retry(attempts = 5, backoff = "200ms"), catch(Release), done)]
    Ship { order: i64, payment: i64 },
    /// Compensation: puts back what was taken, if anything was.
    #[step(done)]
    Release { order: i64, because: Because },
}

impl OrderSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        let Reserve { order, patience } = step;
        // The pieces are taken with the transition or not at all, and once, however often a crash makes this step run.
        Ok(goto(AwaitPayment { order, patience }).in_transaction(move |tx| Box::pin(orders::reserve(tx, order))))
    }

    async fn await_payment(
        &self,
        step: AwaitPayment,
        signal: Result<AwaitPaymentSignal, TimedOut>,
        _cx: &StepContext,
    ) -> StepResult<AwaitPayment> {
        let order = step.order;
        let because = match signal {
            Ok(AwaitPaymentSignal::Paid(Paid { event, payment })) => {
                let paid = goto(Ship { order, payment });
                return Ok(paid.in_transaction(move |tx| Box::pin(orders::pay(tx, order, event.clone(), payment))));
            }
            Ok(AwaitPaymentSignal::Declined(Declined { event, reason })) => Because::Declined { event, reason },
            Err(TimedOut) => Because::NobodyPaid,
        };
        Ok(goto(Release { order, because }))
    }

    async fn ship(&self, step: Ship, cx: &StepContext) -> StepResult<Ship> {
        let Ship { order, payment } = step;
        let pieces = self.order(order).await?.ok_or("the order is gone")?.pieces;
        // The carrier is no part of the transaction: it tells by the key whether it has booked this parcel before.
        let booked = self.carrier().book(pieces, &cx.idempotency_key()).await;
        let tracking = booked.map_err(|Refused(reason)| format!("refused: {reason}")).permanent()?;
        let shipped = done(Receipt::Shipped { payment, tracking: tracking.clone() });
        Ok(shipped.in_transaction(move |tx| Box::pin(orders::ship(tx, order, tracking.clone()))))
    }

    async fn release(&self, step: Release, _cx: &StepContext) -> StepResult<Release> {
        let Release { order, because } = step;
        let released = done(Receipt::Released(because.clone()));
        Ok(released.in_transaction(move |tx| Box::pin(orders::release(tx, order, because.clone()))))
    }
}

/// What `catch(Release)` asks for.
impl From<Failed<Reserve>> for Release {
    fn from(failed: Failed<Reserve>) -> Self {
        Self { order: failed.step.order, because: Because::NotReserved { error: failed.error } }
    }
}

impl From<Failed<Ship>> for Release {
    fn from(failed: Failed<Ship>) -> Self {
        Self { order: failed.step.order, because: Because::NotShipped { error: failed.error } }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyPaid => f.write_str("nobody paid"),
            Self::Declined { reason, .. } => write!(f, "declined: {reason}"),
            Self::NotReserved { error } | Self::NotShipped { error } => f.write_str(error),
        }
    }
}
