//! A commit that stands still half way with all it holds, and calls that cannot go on meanwhile.

use std::{sync::Arc, time::Duration};

use gen_durable::prelude::*;
use gen_durable_runtime::{
    machine::support::ran,
    model::{Transition, Work},
    store::Commits,
};
use suite::Db;
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinHandle,
};

/// Only its outcome is used: it has work within the transaction.
#[durable_fsm(output(u32))]
pub enum Pause {
    #[step(start, done)]
    Now {},
}

/// It holds its rows and those of others that it needs; on a file, all of it.
pub struct Paused {
    commit: JoinHandle<Commits>,
    go: Arc<Semaphore>,
}

impl Paused {
    pub async fn begin(db: &Db, mut batch: Vec<Transition>) -> Self {
        let (there, go) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        batch[0].effects.get_or_insert_default().work.push(pausing(Arc::clone(&there), Arc::clone(&go)));
        let store = Arc::clone(&db.store);
        let commit = tokio::spawn(async move { store.commit(&batch).await.expect("commits") });
        there.notified().await;
        Self { commit, go }
    }

    /// Lets it go on, to its end.
    pub async fn end(self) -> Commits {
        self.go.add_permits(1);
        self.commit.await.expect("no panic")
    }
}

fn pausing(there: Arc<Notify>, go: Arc<Semaphore>) -> Work {
    let outcome: gen_durable::Outcome<Now> = done(1);
    let outcome = outcome.in_transaction(move |_| {
        let (there, go) = (Arc::clone(&there), Arc::clone(&go));
        Box::pin(async move {
            there.notify_one();
            go.acquire().await.map(drop).map_err(StepError::from)
        })
    });
    ran(outcome, &()).expect("it can be stored").effects.work.remove(0)
}

/// Begins a call that must wait, and returns once so many do. A file's line cannot be seen: there it is given time to
/// end, which it must not.
pub async fn in_line<T: Send + 'static>(
    db: &Db,
    nth: i64,
    call: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let call = tokio::spawn(call);
    if db.store.dialect() == "postgres" {
        let waits = async || db.count(crate::IN_LINE).await == nth;
        suite::eventually("it stands in line", Duration::from_secs(10), waits).await;
    } else {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!call.is_finished(), "it did not wait");
    call
}
