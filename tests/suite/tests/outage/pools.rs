//! Poolers, and pools smaller than the work.

use std::time::{Duration, Instant};

use gen_durable::{Client, Migration, prelude::*};
use suite::{Bouncer, Db, Oracle, is_long, nothing_lost, size};

use super::{client, ids, worker};
use crate::machines::{Act, Go, Patience, Prepare, Rig, Run, Then, Visits};

suite::stores! {
    postgres {
        a_pool_smaller_than_the_work_makes_it_slow_and_nothing_else => "one writer: a step that holds a transaction holds up all",
        behind_a_transaction_pooler_everything_works_by_the_poll => "no pooler between a program and its file",
        a_migration_through_a_transaction_pooler_leaves_no_lock_behind => "no pooler between a program and its file",
    }
}

/// Uses two pools at once in each step.
#[durable_fsm(output(u64), handler(Shop), retry(attempts = 3))]
pub enum Busy {
    #[step(start, done)]
    Serve { n: u64 },
}

pub struct Shop {
    client: Client,
    pool: sqlx::PgPool,
}

impl BusySteps for Shop {
    async fn serve(&self, step: Serve, cx: &StepContext) -> StepResult<Serve> {
        let mut tx = self.pool.begin().await?;
        let later = start(Run { millis: 0, steps: 1 }).delay(Duration::from_secs(3_600));
        self.client.in_transaction(&mut tx).start(later).await?;
        // The engine's pool, while a transaction is held.
        self.client.by_id::<Busy>(cx.id()).show().await?;
        tokio::time::sleep(Duration::from_millis(150)).await;
        self.client.get::<Busy>(cx.id()).await?;
        tx.commit().await?;
        Ok(done(step.n))
    }
}

/// O-46. The steps wait for one of three connections, longer than their lease of 2 s; the engine has three as well.
async fn a_pool_smaller_than_the_work_makes_it_slow_and_nothing_else(db: Db) {
    let db = db.with_effects().await;
    let engine = Client::options(&db.url).pool_size(3).connect().await.expect("connects");
    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(3).connect(&db.url).await.expect("connects");
    let shop = Shop { client: engine.clone(), pool };
    let worker = Worker::new(engine.clone()).handler(shop).handler(Rig::new(&db.url, Duration::ZERO));
    let worker = worker.queue("default", 50).lease(Duration::from_secs(2)).sweep(Duration::from_millis(200));
    let worker = worker.start().await.expect("starts");
    assert!(engine.store().warnings(50).iter().any(|w| w.contains("a pool of 3 connections for 50 concurrent steps")));
    let instances = size(500).max(100);
    let client = client(&db).await;
    let started = client.start_many((0..instances as u64).map(|n| start(Serve { n }))).await.expect("starts");
    Oracle::of(&db).within(Duration::from_secs(120)).check(&ids(&started)).await;
    let served = "SELECT count(*) FROM gen_durable WHERE fsm = 'busy' AND status = 'done'";
    assert_eq!(db.count(served).await, i64::try_from(instances).expect("small"));
    let begun = "SELECT count(*) FROM gen_durable WHERE fsm = 'work'";
    assert_eq!(db.count(begun).await, i64::try_from(instances).expect("small"), "each step ran once");
    assert_eq!((worker.stats().reaped_claims(), worker.stats().lost_claims()), (0, 0), "renewed in time");
    worker.stop().await;
}

/// O-45. Three workers on five connections of a transaction pooler; one is killed and started again.
async fn behind_a_transaction_pooler_everything_works_by_the_poll(db: Db) {
    let db = db.with_effects().await;
    let Some(bouncer) = Bouncer::to(&db, 5).await else { return local_postgres::skip("pgbouncer is not installed") };
    let options = worker(&db).url(bouncer.url()).with("SUITE_POOLER", 1);
    let mut workers = vec![options.spawn().await, options.spawn().await, options.spawn().await];
    assert_eq!(workers[0].logged("behind a transaction pooler"), 1, "boot says what is missing");
    let client =
        Client::options(bouncer.url()).pool_size(6).transaction_pooler(true).connect().await.expect("connects");
    let (began, mut all, mut name) = (Instant::now(), Vec::new(), 0);
    let span = Duration::from_secs(if is_long() { 60 } else { 6 });
    while began.elapsed() < span {
        let runs = client.start_many((0..20).map(|_| start(Run { millis: 10, steps: 3 }))).await.expect("starts");
        all.extend(ids(&runs));
        for then in [Then::Goto, Then::Retry, Then::Panic, Then::Fail, Then::Error] {
            all.extend(client.start(start(Act { then, millis: 5 })).await.expect("starts").id());
        }
        name += 1;
        let visits = client.start(start(Prepare { name, millis: 0, rounds: 2 })).await.expect("starts");
        let timed = client.start(start(Patience { within: Duration::from_millis(300) })).await.expect("starts");
        client.of::<Visits>(name).signal(Go { n: 1 }).await.expect("delivers");
        client.of::<Visits>(name).signal(Go { n: 2 }).dedup("two").await.expect("delivers");
        all.extend([visits.id(), timed.id()].into_iter().flatten());
        let limit = Duration::from_secs(20);
        assert_eq!(visits.wait().timeout(limit).await.expect("ends"), 3);
        assert!(!timed.wait().timeout(limit).await.expect("ends"));
        if name % 3 == 1 {
            let at = usize::try_from(name).expect("small") % 3;
            workers[at].kill().await;
            workers[at] = options.spawn().await;
        }
    }
    Oracle::of(&db).within(Duration::from_secs(60)).check(&all).await;
    for process in &workers {
        for fault in ["42P05", "26000", "prepared statement", "25P01"] {
            assert_eq!(process.logged(fault), 0, "{fault}: {:?}", process.log());
        }
    }
    assert!(!bouncer.log().contains("ERROR"), "{}", bouncer.log());
}

/// O-45: migrations through the pooler leave no lock behind and take effect, or say that they need a direct way.
async fn a_migration_through_a_transaction_pooler_leaves_no_lock_behind(db: Db) {
    let Some(bouncer) = Bouncer::to(&db, 5).await else { return local_postgres::skip("pgbouncer is not installed") };
    let options = Client::options(bouncer.url()).transaction_pooler(true).schema("behind").expect("a name");
    let client = options.open().expect("opens");
    for _ in 0..3 {
        client.migrate(Migration::default()).await.expect("migrates");
        client.check().await.expect("stands");
        client.migrate(Migration { to: Some(0), ..Migration::default() }).await.expect("goes down");
    }
    nothing_lost(&db, &[]).await;
}
