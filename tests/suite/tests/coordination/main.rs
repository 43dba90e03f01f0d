//! More than one step or instance: children and their joins, waits for several signals, what an outcome does beside
//! its own row.

mod cancels;
mod children;
mod deploys;
mod exits;
mod fanouts;
mod history;
mod joins;
mod machines;
mod outcomes;
mod restarts;
mod transfers;
mod waits;

use std::sync::Arc;

use gen_durable::{Client, RunningWorker, Worker};
use machines::Hands;
use suite::{Db, store_options};

/// A client, a worker and what its handlers did.
pub struct Work {
    pub client: Client,
    pub hands: Arc<Hands>,
    worker: RunningWorker,
}

impl Work {
    pub async fn on(db: &Db) -> Self {
        let client = Client::on(store_options(&db.url).open().expect("a store"));
        let hands = Arc::<Hands>::default();
        let worker = Worker::new(client.clone()).shared_handler(Arc::clone(&hands)).leave_unserved();
        Self { client, hands, worker: worker.without_migration().start().await.expect("starts") }
    }

    pub async fn stop(self) {
        self.worker.stop().await;
    }
}
