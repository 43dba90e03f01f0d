//! Names of files.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use gen_durable::{Client, start};
use suite::WorkerOptions;

use super::{machines::Run, place::Place};

fn client(url: &str) -> Client {
    Client::options(url).pool_size(2).open().expect("a client")
}

/// Only `%` and `?` mean something in a URL.
#[tokio::test]
async fn a_path_may_hold_any_character() {
    let place = Place::migrated().await;
    let name = r#"it's a "file" #1 & ü; DROP TABLE gen_durable;--.db"#;
    fs::copy(place.file(), place.dir().join(name)).expect("copies");
    let url = format!("sqlite://{}", place.dir().join(name).display());
    let _worker = place.worker().url(&url).spawn().await;
    let work = client(&url).start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    work.wait().timeout(Duration::from_secs(10)).await.expect("ends");
    assert_eq!(place.count("SELECT count(*) FROM gen_durable").await, 0, "not the other file");

    fs::copy(place.file(), place.dir().join("100%?.db")).expect("copies");
    let url = format!("sqlite://{}", place.dir().join("100%25%3F.db").display());
    client(&url).start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
}

/// Seen by two names it is one file with one log.
#[tokio::test]
async fn a_link_to_a_file_is_that_file() {
    let place = Place::migrated().await;
    let link = place.dir().join("link.db");
    symlink(place.file(), &link).expect("a link");
    let worker: WorkerOptions = place.worker().poll(Duration::from_secs(60));
    let _worker = worker.spawn().await;
    let client = client(&format!("sqlite://{}", link.display()));
    let work = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    work.wait().timeout(Duration::from_secs(10)).await.expect("ends");
    assert!(!Path::new(&format!("{}-wal", link.display())).exists());
    client.close().await;
    place.is_sound().await;
}
