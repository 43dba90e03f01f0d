//! The whole checkout in the test kit: the shop and its carrier as they are, the clock moved by the test.

use std::time::Duration;

use gen_durable::{Handle, start, testing::TestKit};

use crate::{
    machine::{AwaitPayment, Because, Checkout, PaymentConfirmed, PaymentDeclined, Receipt, Reserve, Ship},
    shop::{Books, Shop},
};

const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The carrier always answers the same calls the same way: books this order's parcel at once,
const SMOOTH: u64 = 7;
/// and this one's with the third call.
const BUMPY: u64 = 2;

/// A shop in the kit's own database.
async fn open() -> (TestKit, Shop) {
    let kit = TestKit::builder().await;
    let shop = Shop::connect(kit.client()).await.expect("the shop's tables");
    (kit.handler(shop.clone()).build(), shop)
}

async fn ordered(kit: &TestKit, order: u64, pieces: u32) -> Handle<Checkout> {
    let item = "teapot".to_owned();
    let started = kit.start(start(Reserve { order, item, pieces, patience: PATIENCE })).await;
    kit.drain().await;
    started
}

/// Calls to the carrier, failed ones, pieces held, pieces sold.
async fn books(shop: &Shop) -> [i64; 4] {
    let Books { calls, failed_calls, held, sold, .. } = shop.books().await.expect("books");
    [calls, failed_calls, held, sold]
}

#[tokio::test]
async fn a_paid_order_is_shipped() {
    let (kit, shop) = open().await;
    let order = ordered(&kit, SMOOTH, 3).await;
    assert_eq!(kit.look(&order).await.at_step::<AwaitPayment>().order, SMOOTH);
    assert_eq!(books(&shop).await, [0, 0, 3, 0]);
    kit.signal(&order, PaymentConfirmed { payment: 9 }).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    let Receipt::Shipped { payment: 9, attempts: 1, .. } = look.done() else { panic!("{look}") };
    look.ran(["reserve", "await_payment", "ship"]);
    assert_eq!(books(&shop).await, [1, 0, 0, 3]);
}

#[tokio::test]
async fn an_order_that_nobody_pays_is_released_after_15_minutes() {
    let (kit, shop) = open().await;
    let order = ordered(&kit, SMOOTH, 3).await;
    kit.advance(PATIENCE - Duration::from_secs(1));
    assert_eq!(kit.drain().await, 0);
    kit.look(&order).await.waits_for::<PaymentConfirmed>().waits_for::<PaymentDeclined>();
    kit.advance(Duration::from_secs(1));
    kit.drain().await;
    let look = kit.look(&order).await;
    assert_eq!(look.done(), Receipt::Released { because: Because::NobodyPaid, payment: None });
    assert_eq!(books(&shop).await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn a_declined_payment_releases_the_order() {
    let (kit, shop) = open().await;
    let order = ordered(&kit, SMOOTH, 3).await;
    kit.signal(&order, PaymentDeclined { reason: "no funds".into() }).await;
    kit.drain().await;
    let because = Because::Declined { reason: "no funds".into() };
    assert_eq!(kit.look(&order).await.done(), Receipt::Released { because, payment: None });
    assert_eq!(books(&shop).await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn a_carrier_in_trouble_is_called_again_after_the_backoff() {
    let (kit, shop) = open().await;
    let order = ordered(&kit, BUMPY, 3).await;
    kit.signal(&order, PaymentConfirmed { payment: 9 }).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    look.at_step::<Ship>();
    assert_eq!((look.attempt(), look.error()), (1, Some("the carrier is down")), "{look}");
    assert_eq!(kit.drain().await, 0, "not before the backoff is over");
    kit.run_for(Duration::from_secs(60)).await;
    let look = kit.look(&order).await;
    let Receipt::Shipped { attempts: 3, .. } = look.done() else { panic!("{look}") };
    assert_eq!(books(&shop).await, [3, 2, 0, 3]);
}

#[tokio::test]
async fn a_parcel_that_no_carrier_takes_is_released_with_its_payment() {
    let (kit, shop) = open().await;
    let order = ordered(&kit, SMOOTH, 21).await;
    kit.signal(&order, PaymentConfirmed { payment: 9 }).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    let Receipt::Released { because: Because::NotShipped { attempts: 1, .. }, payment: Some(9) } = look.done() else {
        panic!("{look}")
    };
    assert_eq!(books(&shop).await, [1, 1, 0, 0]);
}
