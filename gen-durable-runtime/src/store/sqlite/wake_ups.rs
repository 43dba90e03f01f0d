//! Wake-ups on their way in: from this process at once, from another one by a look at the file.

use std::{future::Future, pin::Pin, time::Duration};

use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Interval, MissedTickBehavior},
};

use super::{Sqlite, rows, sql};
use crate::{
    Error,
    store::{WakeUp, WakeUps},
};

/// How often the file is looked at. A look costs 20 µs: twenty a second are nothing.
const LOOK: Duration = Duration::from_millis(50);

pub(super) struct FileWakeUps {
    store: Sqlite,
    inbox: Receiver<String>,
    looks: Interval,
    seen: Option<i64>,
}

impl Sqlite {
    pub(super) fn listen(&self) -> FileWakeUps {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        FileWakeUps { store: self.clone(), inbox: self.0.hub.listen(), looks, seen: None }
    }

    /// Changes when another connection has written: seen from the writer, whose own commits do not count.
    async fn changes(&self) -> Result<i64, Error> {
        let found = sqlx::query(sql::changes()).fetch_one(&self.0.writer).await.map_err(self.failed("listening"))?;
        rows::get(&found, "data_version")
    }
}

impl FileWakeUps {
    async fn wait(&mut self) -> WakeUp {
        loop {
            tokio::select! {
                // First what costs nothing.
                biased;
                queue = self.inbox.recv() => return match queue {
                    Ok(queue) => WakeUp::Queue(queue),
                    Err(RecvError::Lagged(_)) => WakeUp::Any,
                    Err(RecvError::Closed) => WakeUp::Lost,
                },
                _ = self.looks.tick() => if self.look().await {
                    return WakeUp::Any;
                },
            }
        }
    }

    async fn look(&mut self) -> bool {
        // Whoever works on the file meets its errors himself, and says so.
        let Ok(changes) = self.store.changes().await else { return false };
        self.seen.replace(changes).is_some_and(|seen| seen != changes)
    }
}

impl WakeUps for FileWakeUps {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = WakeUp> + Send + '_>> {
        Box::pin(self.wait())
    }
}
