use std::{sync::Arc, time::Duration};

use gen_durable::{prelude::*, testing::TestKit};
use kit_tests::{Album, Bind, Hands, Photo, Sort};

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
    // Nobody serves the photos: they never end.
    let kit = TestKit::builder().await.serve::<Album, _>(Hands::default()).leave_unserved().build();
    let album = kit.start(start(Sort { photos: 2, dark: 0 })).await;
    kit.drain().await;
    kit.look(&album).await.waits_for_children();
    kit.advance(super::minutes(24 * 60) - Duration::from_micros(1));
    assert_eq!(kit.drain().await, 0);
    kit.advance(Duration::from_micros(1));
    assert_eq!(kit.drain().await, 1);
    assert_eq!(kit.look(&album).await.done(), (0, 0));
}

#[tokio::test]
async fn three_hundred_children_run_in_one_drain() {
    let kit = kit().await;
    let album = kit.start(start(Sort { photos: 300, dark: 10 })).await;
    assert_eq!(kit.drain().await, 303);
    assert_eq!(kit.look(&album).await.done(), (290, 10));
}
