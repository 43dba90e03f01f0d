//! Waiting for an end, a step or a park, by news or without; and a signal to whoever has a key, or to a new instance.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/machines.rs"]
mod rig;

mod both;
mod lost;
mod machines;
mod news;
mod places;
mod prompt;
mod races;

use std::time::Duration;

use gen_durable::{Client, RunningWorker, Worker};
use gen_durable_runtime::store::Said;
use suite::Db;
use tokio::sync::mpsc;

use machines::Shop;
use rig::Rig;

const LONG: Duration = Duration::from_secs(60);

async fn client(db: &Db) -> Client {
    Client::options(&db.url).pool_size(5).connect().await.expect("connects")
}

/// A worker in this process, with a client of its own. Nothing waits for its poll: that is a minute away.
async fn worker(db: &Db) -> RunningWorker {
    let worker = Worker::new(client(db).await).handler(Rig::new(&db.effects_url(), Duration::ZERO)).handler(Shop);
    worker.queue("default", 50).poll(LONG).drain(Duration::from_secs(1)).start().await.expect("starts")
}

/// What engines and clients say to each other, overheard.
struct Overheard(mpsc::UnboundedReceiver<Said>);

impl Overheard {
    async fn on(db: &Db) -> Self {
        let mut wake_ups = db.store.wake_ups().await.expect("connects").expect("both have them");
        let (tell, said) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                use gen_durable_runtime::store::WakeUp::{Any, Lost, Queue};
                match wake_ups.next().await {
                    Queue(text) => Said::parse(&text).into_iter().for_each(|said| drop(tell.send(said))),
                    Any => {}
                    Lost => return,
                }
            }
        });
        Self(said)
    }

    /// Waits until something is said that `is` it.
    async fn until(&mut self, what: &str, within: Duration, is: impl Fn(&Said) -> bool) {
        let hear = async {
            while let Some(said) = self.0.recv().await {
                if is(&said) {
                    return;
                }
            }
            panic!("nothing is heard any more");
        };
        assert!(tokio::time::timeout(within, hear).await.is_ok(), "not within {within:?}: {what}");
    }

    /// Waits until engines know that somebody waits.
    async fn greeting(&mut self) {
        self.until("a greeting", Duration::from_secs(10), |said| matches!(said, Said::Hello(..))).await;
        // The engine hears it in the same moment; until it has noted it.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    /// What was said so far.
    fn so_far(&mut self) -> Vec<Said> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}
