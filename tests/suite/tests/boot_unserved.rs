//! Machines nobody serves, and versions that need no handlers.
#![allow(unreachable_pub)]

use gen_durable::{Client, prelude::*};
use suite::Db;

suite::stores! {
    both {
        a_machine_nobody_serves_does_not_boot_and_the_older_version_is_not_asked_for,
        serving_it_by_hand_is_enough,
    }
}

pub struct Hands;

pub mod v1 {
    use gen_durable::prelude::*;

    /// Needs no handlers: version 2 takes its rows over.
    #[durable_fsm(name = "order")]
    pub enum Order {
        #[step(start, done)]
        Only,
    }
}

#[durable_fsm(name = "order", version = 2, from(v1::Order))]
pub enum Order {
    #[step(start, done)]
    Only,
}

impl From<v1::Order> for Order {
    fn from(older: v1::Order) -> Self {
        match older {
            v1::Order::Only => Self::Only,
        }
    }
}

impl OrderSteps for Hands {
    async fn only(&self, _: Only, _: &StepContext) -> StepResult<Only> {
        Ok(done(()))
    }
}

fn worker(url: &str) -> Worker {
    Worker::new(Client::options(url).open().expect("no connection is made"))
}

async fn a_machine_nobody_serves_does_not_boot_and_the_older_version_is_not_asked_for(db: Db) {
    let text = worker(&db.url).handler(Hands).start().await.expect_err("refused").to_string();
    assert!(text.contains("nobody serves machine `order` version 2 (boot_unserved::Order)"), "{text}");
    assert!(text.contains(".serve::<Order, _>(handler)"), "{text}");
    assert!(!text.contains("version 1"), "{text}");
}

async fn serving_it_by_hand_is_enough(db: Db) {
    let nowhere =
        if db.store.dialect() == "postgres" { "postgres://nowhere/db" } else { "sqlite:///nowhere/at/all.db" };
    let error = worker(nowhere).serve::<Order, _>(Hands).start().await.expect_err("there is no database");
    assert!(!error.is_boot(), "{error}");
}
