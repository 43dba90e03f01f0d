//! The service as its customers and the payment provider meet it: the real binary, over HTTP, on both stores.

mod support;

use reqwest::StatusCode;
use serde_json::{Value, json};
use support::Database;

/// Each promise on both stores, from one body.
macro_rules! on_both_stores {
    ($($promise:ident),* $(,)?) => {
        mod sqlite { $(#[tokio::test] async fn $promise() { super::$promise(super::Database::sqlite()).await; })* }
        mod postgres { $(#[tokio::test] async fn $promise() { super::$promise(super::Database::postgres()).await; })* }
    };
}

on_both_stores![
    a_paid_order_is_shipped_and_shows_its_timeline,
    a_declined_order_is_released_and_a_late_payment_is_refused,
    a_payment_that_nobody_makes_is_waited_for_as_long_as_was_said,
    a_webhook_before_the_wait_is_not_lost,
    a_repeated_webhook_counts_once_also_after_the_end,
    of_two_posts_of_one_order_at_once_one_makes_it,
    a_refused_order_leaves_no_row_and_no_instance,
    what_cannot_be_is_refused,
    a_server_killed_between_payment_and_parcel_ends_the_order,
    a_server_that_is_told_to_stop_finishes_what_it_does,
];

const PLACED: &str = "SELECT count(*) FROM orders";
const STARTED: &str = "SELECT count(*) FROM gen_durable";

/// What a timeline says of each run: where, and what came of it.
fn runs(order: &Value) -> Vec<(&str, &str)> {
    let timeline = order["timeline"].as_array().expect("a list").iter();
    timeline.map(|line| (line["from"].as_str().expect("a step"), line["outcome"].as_str().expect("text"))).collect()
}

async fn a_paid_order_is_shipped_and_shows_its_timeline(database: Database) {
    let server = database.serve(&[]);
    let (status, placed) = server.place(7, "teapot", 3).await;
    assert_eq!((status, &placed["order"]), (StatusCode::CREATED, &json!(7)), "{placed}");
    let reserved = server.becomes(7, "reserved").await;
    assert_eq!(reserved["instance"], placed["instance"]);
    let progress = &reserved["progress"];
    assert_eq!(progress["step"], "await_payment");
    assert_eq!(progress["waits_for"], json!(["paid", "declined"]));
    assert!(progress["until"].is_string(), "{progress}");
    assert_eq!(server.paid("evt_1", 7).await, (StatusCode::OK, json!({ "heard_before": false })));
    let shipped = server.becomes(7, "shipped").await;
    assert_eq!(runs(&shipped), [("reserve", "wait"), ("await_payment", "goto"), ("ship", "done")]);
    assert_eq!((&shipped["event"], &shipped["payment"]), (&json!("evt_1"), &json!(700_007)));
    assert_eq!(shipped["progress"]["status"], "done");
    assert_eq!(shipped["progress"]["result"]["shipped"]["tracking"], shipped["tracking"]);
    assert_eq!(database.number("SELECT available FROM stock WHERE item = 'teapot'").await, 99_997);
}

async fn a_declined_order_is_released_and_a_late_payment_is_refused(database: Database) {
    let server = database.serve(&[]);
    server.place(7, "teapot", 3).await;
    let declined = json!({ "event": "evt_1", "order": 7, "result": "declined", "reason": "no funds" });
    assert_eq!(server.post("/webhooks/payment", &declined).await.0, StatusCode::OK);
    let released = server.becomes(7, "released").await;
    assert_eq!(released["reason"], "declined: no funds");
    assert_eq!(runs(&released).last(), Some(&("release", "done")));
    assert_eq!(database.number("SELECT available FROM stock WHERE item = 'teapot'").await, 100_000);
    assert_eq!(server.paid("evt_2", 7).await, (StatusCode::CONFLICT, json!({ "error": "the order has ended" })));
    let again = server.post("/webhooks/payment", &declined).await;
    assert_eq!(again, (StatusCode::OK, json!({ "heard_before": true })), "what decided it is known");
}

async fn a_payment_that_nobody_makes_is_waited_for_as_long_as_was_said(database: Database) {
    let server = database.serve(&[]);
    let hasty = json!({ "order": 7, "item": "lamp", "pieces": 1, "patience": "200ms" });
    assert_eq!(server.post("/orders", &hasty).await.0, StatusCode::CREATED);
    assert_eq!(server.becomes(7, "released").await["reason"], "nobody paid");
}

async fn a_webhook_before_the_wait_is_not_lost(database: Database) {
    // Nobody works here: the order stands where it began.
    let early = database.serve(&["--without-worker"]);
    early.place(7, "teapot", 3).await;
    assert_eq!(early.paid("evt_1", 7).await, (StatusCode::OK, json!({ "heard_before": false })));
    let (_, placed) = early.look(7).await;
    assert_eq!((&placed["state"], &placed["timeline"]), (&json!("placed"), &json!([])));
    let _works = database.serve(&[]);
    assert_eq!(
        runs(&early.becomes(7, "shipped").await),
        [("reserve", "wait"), ("await_payment", "goto"), ("ship", "done")]
    );
}

async fn a_repeated_webhook_counts_once_also_after_the_end(database: Database) {
    let waits = database.serve(&["--without-worker"]);
    waits.place(7, "teapot", 3).await;
    for before in [false, true, true] {
        assert_eq!(waits.paid("evt_1", 7).await, (StatusCode::OK, json!({ "heard_before": before })));
    }
    assert_eq!(database.number("SELECT count(*) FROM signals").await, 1);
    let works = database.serve(&[]);
    works.becomes(7, "shipped").await;
    assert_eq!(works.paid("evt_1", 7).await, (StatusCode::OK, json!({ "heard_before": true })));
    assert_eq!(works.paid("evt_2", 7).await.0, StatusCode::CONFLICT);
}

/// One of them is 201, the others 200 with the same instance; one that asks for something else is 409.
async fn of_two_posts_of_one_order_at_once_one_makes_it(database: Database) {
    let servers = [database.serve(&[]), database.serve(&[])];
    for order in 1..=20 {
        let [first, second] = &servers;
        let both: [_; 2] = tokio::join!(first.place(order, "lamp", 1), second.place(order, "lamp", 1)).into();
        let mut statuses = both.each_ref().map(|(status, _)| *status);
        statuses.sort();
        assert_eq!(statuses, [StatusCode::OK, StatusCode::CREATED], "{both:?}");
        assert_eq!(both[0].1, both[1].1);
    }
    assert_eq!((database.number(PLACED).await, database.number(STARTED).await), (20, 20));
    let (status, refused) = servers[0].place(7, "teapot", 1).await;
    assert_eq!((status, refused), (StatusCode::CONFLICT, json!({ "error": "another order has this number" })));
}

/// The database refuses the row after the instance was started in its transaction.
async fn a_refused_order_leaves_no_row_and_no_instance(database: Database) {
    let server = database.serve(&[]);
    let (status, refused) = server.place(7, "unicorn", 1).await;
    assert_eq!((status, refused), (StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": "no such item" })));
    assert_eq!((database.number(PLACED).await, database.number(STARTED).await), (0, 0));
    assert_eq!(server.look(7).await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.place(7, "lamp", 1).await.0, StatusCode::CREATED, "its number is free");
}

async fn what_cannot_be_is_refused(database: Database) {
    let server = database.serve(&["--without-worker"]);
    assert_eq!(server.paid("evt_1", 7).await, (StatusCode::NOT_FOUND, json!({ "error": "no such order" })));
    assert_eq!(server.place(7, "lamp", 0).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    for patience in ["721h", "soon"] {
        let endless = json!({ "order": 7, "item": "lamp", "pieces": 1, "patience": patience });
        assert_eq!(server.post("/orders", &endless).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(database.number(STARTED).await, 0);
    server.place(7, "lamp", 1).await;
    let (status, said) = server.paid(&"e".repeat(2_000), 7).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{said}");
}

async fn a_server_killed_between_payment_and_parcel_ends_the_order(database: Database) {
    // Its carrier answers when everybody is long gone.
    let first = database.serve(&["--carrier-takes", "1h"]);
    first.place(7, "teapot", 3).await;
    first.becomes(7, "reserved").await;
    first.paid("evt_1", 7).await;
    let paid = first.becomes(7, "paid").await;
    assert_eq!(paid["progress"]["step"], "ship");
    first.kill();
    let second = database.serve(&[]);
    let shipped = second.becomes(7, "shipped").await;
    assert_eq!(runs(&shipped), [("reserve", "wait"), ("await_payment", "goto"), ("ship", "done")]);
    assert_eq!(database.number("SELECT available FROM stock WHERE item = 'teapot'").await, 99_997);
    assert_eq!(second.paid("evt_1", 7).await, (StatusCode::OK, json!({ "heard_before": true })));
}

async fn a_server_that_is_told_to_stop_finishes_what_it_does(database: Database) {
    let server = database.serve(&["--carrier-takes", "300ms"]);
    server.place(7, "teapot", 3).await;
    server.paid("evt_1", 7).await;
    server.becomes(7, "paid").await;
    let stop = std::process::Command::new("kill").args(["-TERM", &server.id().to_string()]).status();
    assert!(stop.expect("a shell's tool").success());
    let ended = server.ended();
    assert!(ended.success(), "{ended}");
    assert_eq!(database.number("SELECT count(*) FROM orders WHERE state = 'shipped'").await, 1);
}
