//! The zero byte, which neither text nor jsonb can hold.

use gen_durable::{Error, Target, WaitError, start};
use gen_durable_runtime::model::{Json, SignalSpec};
use suite::{Db, nothing_lost};

use super::{LIMIT, Letter, Make, Note, ROWS, Write, client, letter, worker};

suite::stores! {
    both {
        a_nul_in_input_is_refused_by_the_name_of_its_field,
        a_nul_made_by_a_step_is_its_error_and_error_texts_are_made_storable,
        a_nul_in_a_key_that_is_asked_for_is_an_error_and_no_answer,
    }
}

fn refused(error: &Error, field: &str) {
    assert_eq!((error.is_invalid(), error.field()), (true, Some(field)), "{error}");
    assert!(!error.to_string().contains("SECRET"), "the data are not quoted: {error}");
}

/// O-57. Input: a typed error that names the field, before any SQL.
async fn a_nul_in_input_is_refused_by_the_name_of_its_field(db: Db) {
    let client = client(&db).await;
    let nul = || "SECRET\0".to_owned();
    let in_value = Write { map: [("k".to_owned(), nul())].into(), ..letter("a") };
    let in_map_key = Write { map: [(nul(), "v".to_owned())].into(), ..letter("a") };
    let in_state = Write { text: nul(), ..letter("a") };
    for write in [in_value, in_map_key, in_state] {
        refused(&client.start(start(write)).await.expect_err("refused"), "state");
    }
    // A key stands in the state as well, which is looked at first.
    let error = client.start(start(Write { name: nul(), ..letter("a") })).await.expect_err("refused");
    refused(&error, "state");
    let error = client.start(start(letter("a")).queue(nul())).await.expect_err("refused");
    refused(&error, "queue");
    assert_eq!(db.count(ROWS).await, 0);

    let open = client.start(start(Write { make: Make::Wait, ..letter("a") })).await.expect("starts");
    refused(&open.signal(Note { text: nul() }).await.expect_err("refused"), "payload");
    let error = open.signal(Note { text: "t".into() }).dedup(nul()).await.expect_err("refused");
    refused(&error, "dedup key");
    let signal = |name: &str, key: &str| SignalSpec {
        target: Target::Key(key.into()),
        name: name.into(),
        payload: Json::object(),
        dedup: None,
    };
    refused(&client.signal_specs(&[signal("a\0", "k")]).await.expect_err("refused"), "signal name");
    refused(&client.signal_specs(&[signal("a", "k\0")]).await.expect_err("refused"), "key");
    let by_key = client.of::<Letter>("a\0".to_owned()).signal(Note { text: "t".into() });
    refused(&by_key.await.expect_err("refused"), "key");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
}

/// O-57. What a step makes: an error of the step, which its catch gets. Failing always succeeds.
async fn a_nul_made_by_a_step_is_its_error_and_error_texts_are_made_storable(db: Db) {
    let client = client(&db).await;
    let worker = worker(&client).await;
    let made = async |name: &str, make| {
        let write = Write { text: "a^b".into(), make, ..letter(name) };
        client.start(start(write)).await.expect("starts").wait().timeout(LIMIT).await
    };
    assert_eq!(made("1", Make::Result).await.expect("caught"), "result contains a NUL character");
    assert_eq!(made("2", Make::State).await.expect("caught"), "state contains a NUL character");
    // The text of an error goes into the state of the catch step.
    let caught = made("3", Make::Error).await;
    assert!(matches!(&caught, Ok(text) if text == "a\u{fffd}b"), "{caught:?}");
    let failed = made("4", Make::Reason).await;
    assert!(matches!(&failed, Err(WaitError::Failed { reason, .. }) if reason == "a\u{fffd}b"), "{failed:?}");
    worker.stop().await;
    nothing_lost(&db, &[]).await;
}

/// O-57: as it is, when a key or a name asks for it.
async fn a_nul_in_a_key_that_is_asked_for_is_an_error_and_no_answer(db: Db) {
    let client = client(&db).await;
    let handle = client.of::<Letter>("a\0".to_owned());
    refused(&handle.show().await.expect_err("refused"), "key");
    let waited = handle.wait().timeout(LIMIT).await;
    assert!(matches!(&waited, Err(WaitError::Other(error)) if error.is_invalid()), "{waited:?}");
}
