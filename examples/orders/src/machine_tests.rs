//! The machine alone, in the test kit: the shop as it is, the clock moved by the test.

use std::time::Duration;

use gen_durable::{
    Failed, Handle,
    testing::{StepRun, TestKit},
};

use crate::{
    carrier::Carrier,
    machine::{AwaitPayment, Because, Declined, Order, Paid, Receipt, Release, Ship},
    place::{NewOrder, Placed},
    shop::Shop,
};

const PATIENCE: Duration = Duration::from_secs(15 * 60);
const ITEM: &str = "teapot";

/// A shop in the kit's own database, whose carrier answers at once.
async fn open() -> (TestKit, Shop) {
    let kit = TestKit::builder().await;
    let shop = Shop::with_carrier(kit.client(), Carrier::new(Duration::ZERO)).await.expect("the shop's tables");
    (kit.handler(shop.clone()).build(), shop)
}

/// As a customer places it; it has run to where it waits, or to its end.
async fn placed(kit: &TestKit, shop: &Shop, item: &str, pieces: u16) -> Handle<Order> {
    let new = NewOrder { order: 7, item: item.into(), pieces, patience: PATIENCE };
    let placed = shop.place(kit.client(), &new).await.expect("a database");
    assert!(matches!(placed, Placed::New { .. }), "{placed:?}");
    kit.drain().await;
    kit.client().of::<Order>(7)
}

fn paid() -> Paid {
    Paid { event: "evt_1".into(), payment: 9 }
}

/// The order's row, and what is left of its item: written by the steps.
async fn stands(shop: &Shop, item: &str) -> (String, Option<String>, i64) {
    let row = shop.order(7).await.expect("a database").expect("an order");
    (row.state, row.reason, shop.available(item).await)
}

#[tokio::test]
async fn a_paid_order_is_shipped_and_its_row_says_so_at_every_step() {
    let (kit, shop) = open().await;
    let order = placed(&kit, &shop, ITEM, 3).await;
    kit.look(&order).await.waits_for::<Paid>().waits_for::<Declined>();
    assert_eq!(stands(&shop, ITEM).await, ("reserved".into(), None, 99_997));
    kit.signal(&order, paid()).await;
    kit.run_next().await.expect("the payment is due");
    kit.look(&order).await.at_step::<Ship>();
    assert_eq!(stands(&shop, ITEM).await, ("paid".into(), None, 99_997));
    kit.drain().await;
    let look = kit.look(&order).await;
    let Receipt::Shipped { payment: 9, tracking } = look.done() else { panic!("{look}") };
    look.ran(["reserve", "await_payment", "ship"]);
    let row = shop.order(7).await.expect("a database").expect("an order");
    assert_eq!((&*row.state, row.tracking, row.payment), ("shipped", Some(tracking), Some(9)));
}

#[tokio::test]
async fn an_order_that_nobody_pays_is_released_after_its_patience() {
    let (kit, shop) = open().await;
    let order = placed(&kit, &shop, ITEM, 3).await;
    kit.advance(PATIENCE - Duration::from_secs(1));
    assert_eq!(kit.drain().await, 0);
    kit.advance(Duration::from_secs(1));
    kit.drain().await;
    assert_eq!(kit.look(&order).await.done(), Receipt::Released(Because::NobodyPaid));
    assert_eq!(stands(&shop, ITEM).await, ("released".into(), Some("nobody paid".into()), 100_000));
}

#[tokio::test]
async fn a_declined_payment_releases_the_order() {
    let (kit, shop) = open().await;
    let order = placed(&kit, &shop, ITEM, 3).await;
    kit.signal(&order, Declined { event: "evt_1".into(), reason: "no funds".into() }).await;
    kit.drain().await;
    let because = Because::Declined { event: "evt_1".into(), reason: "no funds".into() };
    assert_eq!(kit.look(&order).await.done(), Receipt::Released(because));
    assert_eq!(stands(&shop, ITEM).await, ("released".into(), Some("declined: no funds".into()), 100_000));
}

#[tokio::test]
async fn what_is_out_of_stock_is_released_and_nothing_is_put_back() {
    let (kit, shop) = open().await;
    let order = placed(&kit, &shop, "astrolabe", 3).await;
    let look = kit.look(&order).await;
    assert_eq!(look.done(), Receipt::Released(Because::NotReserved { error: "out of stock".into() }));
    look.ran(["reserve", "release"]);
    assert_eq!(stands(&shop, "astrolabe").await, ("released".into(), Some("out of stock".into()), 2));
}

#[tokio::test]
async fn a_parcel_that_the_carrier_refuses_is_released_with_what_it_held() {
    let (kit, shop) = open().await;
    let order = placed(&kit, &shop, ITEM, 21).await;
    kit.signal(&order, paid()).await;
    kit.drain().await;
    let look = kit.look(&order).await;
    let refused = "refused: 21 pieces, a parcel takes 20";
    assert_eq!(look.done(), Receipt::Released(Because::NotShipped { error: refused.into() }));
    look.ran(["reserve", "await_payment", "ship", "release"]);
    assert_eq!(stands(&shop, ITEM).await, ("released".into(), Some(refused.into()), 100_000));
}

#[tokio::test]
async fn an_instance_without_an_order_fails() {
    let (kit, _shop) = open().await;
    let release = Release { order: 8, because: Because::NobodyPaid };
    let reserve = gen_durable::start(crate::machine::Reserve { order: 8, patience: PATIENCE });
    let order = kit.start(reserve).await;
    kit.drain().await;
    assert_eq!(kit.look(&order).await.failed(), "no such order");
    let failed = Failed::new(Ship { order: 8, payment: 1 }, (), "lost", 5);
    assert_ne!(Release::from(failed).because, release.because);
}

/// One step alone: nothing but its decision.
#[tokio::test]
async fn a_payment_moves_on_to_the_parcel_and_writes_with_the_transition() {
    let (_kit, shop) = open().await;
    let step = AwaitPayment { order: 7, patience: PATIENCE };
    let outcome = StepRun::of(step).signal(paid()).run(shop).await;
    let Ship { order: 7, payment: 9 } = outcome.goto::<Ship>() else { panic!("{outcome:?}") };
    assert_eq!(outcome.effects().work.len(), 1);
}
