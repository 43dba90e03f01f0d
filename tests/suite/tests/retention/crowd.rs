//! O-66: deletes beside starts, joins and commits, on two workers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use gen_durable::{Client, Worker, prelude::*};
use gen_durable_runtime::{model::Status, store::Purge};
use suite::{Db, eventually, size, store_options};

use crate::{
    annotations::{Hands, Plain},
    ended,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        families_go_as_fast_as_they_end_and_each_join_sees_all_its_children,
    }
}

#[derive(Default)]
pub struct Crowd {
    met: AtomicUsize,
    missed: AtomicUsize,
}

#[durable_fsm(handler(Crowd), output(u32))]
pub enum Quick {
    #[step(start, next(Meet))]
    Fan { children: u32 },
    #[step(join(Plain), done, fail)]
    Meet { children: u32 },
}

impl QuickSteps for Crowd {
    async fn fan(&self, step: Fan, _: &StepContext) -> StepResult<Fan> {
        let children = (0..step.children).map(Plain::start);
        Ok(fan_out(Meet { children: step.children }).children(children).into())
    }
    /// Every other one fails.
    async fn meet(&self, step: Meet, joined: Joined<Plain>, cx: &StepContext) -> StepResult<Meet> {
        let seen: u32 = joined.results().await?.into_iter().map(|n| n + 1).sum();
        let all = (1..=step.children).sum::<u32>();
        self.missed.fetch_add(usize::from(seen != all), Ordering::Relaxed);
        self.met.fetch_add(1, Ordering::Relaxed);
        Ok(if cx.id().get() % 2 == 0 { done(seen) } else { fail("odd") })
    }
}

async fn families_go_as_fast_as_they_end_and_each_join_sees_all_its_children(db: Db) {
    let (crowd, client) = (Arc::<Crowd>::default(), Client::on(store_options(&db.url).open().expect("a store")));
    let soon = Some(Duration::from_millis(20));
    let worker = async || {
        let worker = Worker::new(client.clone()).handler(Hands).shared_handler(Arc::clone(&crowd)).leave_unserved();
        let worker = worker.without_migration().sweep(Duration::from_millis(10)).retention(soon, soon);
        worker.start().await.expect("starts")
    };
    let (one, two) = (worker().await, worker().await);
    let families = size(4_000);
    for _ in 0..families / 20 {
        client.start_many((0..20).map(|_| gen_durable::start(Fan { children: 5 }))).await.expect("starts");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let met = async || crowd.met.load(Ordering::Relaxed) >= families;
    eventually("every family has met", Duration::from_secs(120), met).await;
    // What a worker passed, because its parent was there, it would look at anew after 36 s here: a third one has not passed it.
    let machines = ["quick", "plain"].into_iter();
    let ended: Vec<_> = machines.flat_map(|m| [Status::Done, Status::Failed].map(|s| ended(m, 1, s))).collect();
    let gone = async || {
        let purge = Purge { age: Duration::from_millis(20), ended: &ended, from: None, look: 1_000, limit: 1_000 };
        db.store.purge(&purge).await.expect("never refused");
        db.count("SELECT count(*) FROM gen_durable").await == 0
    };
    let took = eventually("all are gone", Duration::from_secs(120), gone).await;
    println!("{families} families of six, gone {took:?} after the last had met");
    assert_eq!((crowd.met.load(Ordering::Relaxed), crowd.missed.load(Ordering::Relaxed)), (families, 0));
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_history").await, 0);
    if db.store.dialect() == "postgres" {
        assert_eq!(db.count("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").await, 0);
    }
    one.stop().await;
    two.stop().await;
}
