use std::sync::Arc;

use gen_durable::{prelude::*, testing::TestKit};
use kit_tests::{Bind, Hands, Photo, Sort};

use super::kit;

#[tokio::test]
async fn children_the_join_and_what_it_spawns_run_in_one_drain() {
    let hands = Arc::new(Hands::default());
    let kit = TestKit::builder().await.shared_handler(Arc::clone(&hands)).build();
    let album = kit.start(start(Sort { photos: 3, dark: 1 })).await;
    assert_eq!(kit.drain().await, 6);
    let look = kit.look(&album).await;
    assert_eq!(look.done(), (2, 1));
    let counts = look.children::<Photo>();
    assert_eq!((counts.started, counts.done, counts.failed), (3, 2, 1));
    assert_eq!(hands.notes(), ["photo 0", "photo 1", "photo 2", "postcard: 2 photos"]);
}

#[tokio::test]
async fn a_parent_waits_for_its_children() {
    let kit = kit().await;
    let album = kit.start(start(Sort { photos: 3, dark: 0 })).await;
    kit.run_next().await;
    let look = kit.look(&album).await;
    look.waits_for_children().at_step::<Bind>();
    let counts = look.children::<Photo>();
    assert_eq!((counts.started, counts.done, counts.failed), (3, 0, 0));
    kit.run_next().await;
    let counts = kit.look(&album).await.children::<Photo>();
    assert_eq!((counts.started, counts.done), (3, 1));
}

#[tokio::test]
async fn a_join_times_out_by_the_clock() {
    let kit = TestKit::builder().await.handler(Hands::default()).build();
    let album = kit.start(start(Sort { photos: 2, dark: 0 })).await;
    kit.run_next().await;
    kit.run_next().await;
    kit.advance(super::minutes(24 * 60));
    kit.drain().await;
    assert_eq!(kit.look(&album).await.done(), (1, 0), "the child that had not run by then does not count");
}

#[tokio::test]
async fn a_thousand_children_are_no_overrun() {
    let kit = kit().await;
    let album = kit.start(start(Sort { photos: 1_000, dark: 10 })).await;
    assert_eq!(kit.drain().await, 1_003);
    assert_eq!(kit.look(&album).await.done(), (990, 10));
}
