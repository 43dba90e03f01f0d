//! Files that are no database, or not a whole one.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
    time::Duration,
};

use gen_durable::{Error, Filter, start};
use sqlx::Connection as _;

use super::{machines::Run, place::Place};

/// A worker that begins here ends with the same words as a client's migration.
async fn refused(place: &Place, text: &str) -> Error {
    let (error, path) = (place.refused().await, place.file().display().to_string());
    let said = error.to_string();
    assert!(said.contains(text) && said.contains(&path), "{said}");
    let mut worker = place.worker().launch();
    assert!(!worker.exit(Duration::from_secs(20)).await.success());
    assert_eq!(worker.logged(&said), 1, "{:?}", worker.log());
    error
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let place = Place::empty().await;
    let bytes: Vec<u8> = (0..20_000).map(|_| rand::random()).collect();
    fs::write(place.file(), &bytes).expect("writes");
    let error = refused(&place, "is no SQLite database: move it away, or name another file").await;
    assert!(!error.is_transient(), "waiting does not help");
    assert!(fs::read(place.file()).expect("reads") == bytes, "left as it is");
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let place = Place::empty().await;
    fs::write(place.file(), "").expect("writes");
    let _worker = place.worker().spawn().await;
    let ids = place.start([start(Run { millis: 0, steps: 2 })]).await;
    place.all_done(&ids, 2, Duration::from_secs(10)).await;
}

/// The first page stands, and says that more should.
#[tokio::test]
async fn a_truncated_file_is_refused() {
    let place = Place::migrated().await;
    let file = OpenOptions::new().write(true).open(place.file()).expect("opens");
    file.set_len(8_192).expect("cuts");
    drop(file);
    let error = refused(&place, "is damaged: restore it from a copy").await;
    assert!(!error.is_transient(), "waiting does not help");
}

#[tokio::test]
async fn a_directory_in_its_place_and_a_missing_one_above_it_are_said() {
    let place = Place::empty().await;
    fs::create_dir(place.file()).expect("a directory");
    refused(&place, "cannot be opened: it is a directory").await;

    let place = Place::empty().await;
    fs::remove_dir(place.dir()).expect("removes");
    let error = refused(&place, &format!("make the directory {} first", place.dir().display())).await;
    assert!(error.is_transient());
    fs::create_dir(place.dir()).expect("a directory");
    place.migrate().await;
}

/// A client makes no file.
#[tokio::test]
async fn a_file_that_is_not_there_is_said_and_used_once_it_is_there() {
    let place = Place::empty().await;
    let client = place.client();
    let missing = client.check().await.expect_err("nothing there");
    assert!(missing.is_schema() && missing.to_string().ends_with("gen-durable.db; run `migrate`"), "{missing}");
    let error = client.start(start(Run { millis: 0, steps: 1 })).await.expect_err("nothing there");
    let text = error.to_string();
    assert!(text.contains("gen-durable.db cannot be opened: it is not there") && error.is_transient(), "{text}");
    assert!(!place.file().exists());
    place.migrate().await;
    client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
}

/// Pages of a running program's file are overwritten: it says so, and the next program on the restored file goes on
/// from what was committed.
#[tokio::test]
async fn damage_under_a_running_worker_is_said_and_a_restored_file_goes_on() {
    let place = Place::migrated().await;
    let ids = place.start((0..50).map(|_| start(Run { millis: 10, steps: 4 }))).await;
    let copy = place.dir().join("copy.db");
    fs::copy(place.file(), &copy).expect("copies");
    let worker = place.worker().spawn().await;
    overwrite(&place.file());
    suite::eventually("the operator is told", Duration::from_secs(10), async || {
        worker.logged("is damaged: restore it from a copy") + worker.logged("is no SQLite database") > 0
    })
    .await;
    drop(worker);
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(place.dir().join(format!("gen-durable.db{end}")));
    }
    fs::copy(&copy, place.file()).expect("restores");
    let _next = place.worker().spawn().await;
    place.all_done(&ids, 4, Duration::from_secs(20)).await;
}

/// All but the first page.
fn overwrite(path: &Path) {
    let length = usize::try_from(path.metadata().expect("a file").len()).expect("small");
    let mut file = OpenOptions::new().write(true).open(path).expect("opens");
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(4_096)).expect("seeks");
    file.write_all(&vec![0xA5; length - 4_096]).expect("writes");
}

/// What a crash left in the log is lost with it, and nothing else: the file stands as of the last checkpoint.
#[tokio::test]
async fn a_log_that_was_deleted_takes_only_what_it_held() {
    let place = Place::migrated().await;
    let kept = place.start((0..10).map(|_| start(Run { millis: 0, steps: 1 }).queue("kept"))).await;
    let log = place.dir().join("gen-durable.db-wal");
    assert!(!log.exists(), "a client that closes leaves none");
    let mut other = place.look().await;
    let client = place.client();
    client.start_many((0..10).map(|_| start(Run { millis: 0, steps: 1 }))).await.expect("starts");
    let left = place.dir().join("left.db");
    fs::copy(place.file(), &left).expect("copies what a crash would leave, without its log");
    client.close().await;
    other.ping().await.expect("open until here, so that the log stood");
    other.close().await.expect("closes");
    fs::rename(&left, place.file()).expect("renames");
    assert_eq!(place.count("SELECT count(*) FROM gen_durable WHERE queue = 'kept'").await, 10);
    assert_eq!(place.client().list(Filter::default()).await.expect("reads").len(), 10);
    place.is_sound().await;
    let worker = place.worker().with("SUITE_QUEUE", "kept").spawn().await;
    place.all_done(&kept, 1, Duration::from_secs(10)).await;
    drop(worker);
}
