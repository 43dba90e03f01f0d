//! O-03: a binary into which nothing was linked says so.

use gen_durable::{Client, Worker};
use suite::Db;

suite::stores! {
    both {
        a_worker_without_machines_does_not_boot_and_says_what_mends_it,
    }
}

async fn a_worker_without_machines_does_not_boot_and_says_what_mends_it(db: Db) {
    let client = Client::options(&db.url).open().expect("no connection is made");
    let error = Worker::new(client).start().await.expect_err("refused");
    let text = error.to_string();
    assert!(
        error.is_boot() && text.contains("no machine is linked") && text.contains("use my_machines as _;"),
        "{text}"
    );
}
