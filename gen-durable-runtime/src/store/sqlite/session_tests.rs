//! Transactions that were dropped, or that SQLite ended by itself.

use std::future::Future;

use super::{Sqlite, rows, session::Survive};
use crate::store::{DatabaseOptions, Migration, Store as _};

struct Place(std::path::PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn store(name: &str) -> (Sqlite, Place) {
    let place = Place(std::env::temp_dir().join(format!("gen-durable-{name}-{}", std::process::id())));
    std::fs::create_dir_all(&place.0).expect("a directory");
    let url = format!("sqlite://{}", place.0.join("a.db").display());
    let store = Sqlite::new(DatabaseOptions::new(url)).expect("a store");
    store.migrate(&Migration::default()).await.expect("migrates");
    (store, place)
}

/// Drops the call when it was looked at so often.
async fn dropped_after<T>(polls: usize, call: impl Future<Output = T>) {
    let enough = async {
        for _ in 0..polls {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { biased; _ = call => {}, () = enough => {} }
}

#[tokio::test]
async fn what_must_survive_a_power_cut_is_flushed_whatever_was_dropped_before() {
    let (store, _place) = store("flushed").await;
    for polls in 0..400 {
        drop(store.writing("testing", Survive::PowerCut).await.expect("begins"));
        dropped_after(polls, store.writing("testing", Survive::Crash)).await;
        let mut session = store.writing("testing", Survive::PowerCut).await.expect("begins");
        let found = session.rows(sqlx::query("PRAGMA synchronous")).await.expect("answers");
        let full = rows::get::<i64>(&found[0], "synchronous").expect("a number");
        assert_eq!(full, 2, "dropped after {polls} polls");
    }
}

/// As with some errors: a full disk, a failing one, no memory.
#[tokio::test]
async fn a_transaction_that_sqlite_ended_by_itself_is_followed_by_others() {
    let (store, _place) = store("ended").await;
    for _ in 0..3 {
        let mut session = store.writing("testing", Survive::PowerCut).await.expect("begins");
        session.rows(sqlx::query("ROLLBACK")).await.expect("rolls back");
        session.end().await.expect_err("there is nothing to commit");
        store.writing("testing", Survive::PowerCut).await.expect("begins").end().await.expect("commits");
    }
}
