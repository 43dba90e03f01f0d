//! The Elixir engine on the same database: what it wrote is worked here, and what is ours survives its sweeps. It has no
//! wake-ups of ours, so what it writes is found by the poll.
#![cfg_attr(not(feature = "postgres"), allow(dead_code, unused_imports))]

mod families;
mod machines;
mod rows;
mod signals;
mod sweeps;
mod theirs;

use std::{sync::Arc, time::Duration};

use gen_durable::{Client, InstanceId, Machine, RunningWorker, Worker};
use machines::Desk;
use suite::{Db, store_options};

/// How long anything here may take.
const SOON: Duration = Duration::from_secs(20);

/// Our worker, in our queue.
struct Ours {
    client: Client,
    desk: Arc<Desk>,
    worker: RunningWorker,
}

impl Ours {
    async fn on(db: &Db) -> Self {
        let client = Client::on(store_options(&db.url).open().expect("a store"));
        let desk = Arc::<Desk>::default();
        let worker = Worker::new(client.clone()).shared_handler(Arc::clone(&desk)).leave_unserved();
        let worker = worker.poll(Duration::from_millis(50)).sweep(Duration::from_secs(3_600)).without_migration();
        Self { client, desk, worker: worker.start().await.expect("starts") }
    }

    /// What an instance of ours ends with.
    async fn result<M: Machine>(&self, id: InstanceId) -> M::Output {
        match self.client.by_id::<M>(id).wait().timeout(SOON).await {
            Ok(result) => result,
            Err(error) => panic!("{error}: {:?}", self.client.show(&gen_durable::Target::Id(id)).await),
        }
    }

    async fn stop(self) {
        self.worker.stop().await;
    }
}

/// One column of a row, as text.
async fn column(db: &Db, id: InstanceId, column: &str) -> String {
    db.text(format!("SELECT coalesce({column}::text, 'NULL') FROM gen_durable WHERE id = {id}")).await
}
