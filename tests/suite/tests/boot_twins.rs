//! O-04: two machines with one stored name and version.
#![allow(unreachable_pub)]

use gen_durable::{Client, prelude::*};
use suite::Db;

suite::stores! {
    both {
        two_machines_with_one_name_do_not_boot_and_both_are_named,
    }
}

pub struct Hands;

pub mod a {
    use gen_durable::prelude::*;

    #[durable_fsm(name = "twin", handler(super::Hands))]
    pub enum First {
        #[step(start, done)]
        Only,
    }
    impl FirstSteps for super::Hands {
        async fn only(&self, _: Only, _: &StepContext) -> StepResult<Only> {
            Ok(done(()))
        }
    }
}

pub mod b {
    use gen_durable::prelude::*;

    #[durable_fsm(name = "other", alias = "twin", handler(super::Hands))]
    pub enum Second {
        #[step(start, done)]
        Only,
    }
    impl SecondSteps for super::Hands {
        async fn only(&self, _: Only, _: &StepContext) -> StepResult<Only> {
            Ok(done(()))
        }
    }
}

async fn two_machines_with_one_name_do_not_boot_and_both_are_named(db: Db) {
    let client = Client::options(&db.url).open().expect("no connection is made");
    let error = Worker::new(client).handler(Hands).start().await.expect_err("refused");
    let text = error.to_string();
    assert!(error.is_boot(), "{text}");
    assert!(text.contains("boot_twins::a::First") && text.contains("boot_twins::b::Second"), "{text}");
    assert!(text.contains("`twin` version 1"), "{text}");
}
