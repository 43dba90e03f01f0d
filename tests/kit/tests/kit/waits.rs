use gen_durable::prelude::*;
use kit_tests::{Close, Open, Paid, Till};

use super::{kit, minutes};

#[tokio::test]
async fn a_wait_for_several_is_over_with_the_last() {
    let kit = kit().await;
    let stall = kit.start(start(Open).carry(Till { coins: 5 })).await;
    kit.drain().await;
    kit.signal(&stall, Paid { amount: 10 }).await;
    assert_eq!(kit.drain().await, 0);
    kit.look(&stall).await.waits_for::<Paid>();
    kit.signal(&stall, Paid { amount: 20 }).await;
    assert_eq!(kit.run_next().await.map(|ran| ran.step).as_deref(), Some("open"));
    let look = kit.look(&stall).await;
    look.at_step::<Close>();
    assert_eq!(look.carry(), Till { coins: 35 });
    kit.drain().await;
    assert_eq!(kit.look(&stall).await.done(), 35);
}

#[tokio::test]
async fn a_wait_for_several_times_out_with_what_has_come() {
    let kit = kit().await;
    let stall = kit.start(start(Open).carry(Till { coins: 5 })).await;
    kit.signal(&stall, Paid { amount: 10 }).await;
    assert_eq!(kit.run_for(minutes(61)).await, 2);
    assert_eq!(kit.look(&stall).await.done(), 15);
}
