//! Who lives, what they know, and rows of code that none of them does.

use std::time::Duration;

use sqlx::postgres::PgRow;

use super::{Postgres, rows};
use crate::{
    Error,
    model::{InstanceId, Surroundings},
    store::{
        Known, LiveWorker, Pending, Stranger, WorkerEntry, WorkerStore,
        workers::{MISSED, machines_of},
        written::timestamp,
    },
};

impl WorkerStore for Postgres {
    fn seen_every(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn put_worker<'a>(&'a self, worker: &'a WorkerEntry) -> Pending<'a, ()> {
        let query = sqlx::query(self.statements().worker_put()).bind(&worker.name).bind(&worker.queues);
        let query = query.bind(&worker.codes);
        Box::pin(async move { self.ask("registering a worker", query).await.map(drop) })
    }

    fn see_worker<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        let query = sqlx::query(self.statements().worker_seen()).bind(name);
        Box::pin(async move { Ok(!self.ask("registering a worker", query).await?.is_empty()) })
    }

    fn remove_worker<'a>(&'a self, name: &'a str) -> Pending<'a, ()> {
        let query = sqlx::query(self.statements().worker_remove()).bind(name);
        Box::pin(async move { self.ask("removing a worker", query).await.map(drop) })
    }

    fn workers(&self) -> Pending<'_, Vec<LiveWorker>> {
        let query = sqlx::query(self.statements().workers()).bind(rows::micros(self.seen_every() * MISSED));
        Box::pin(async move { self.ask("reading workers", query).await?.iter().map(worker).collect() })
    }

    fn strangers<'a>(&'a self, queue: &'a str, known: &'a Known, limit: u32) -> Pending<'a, Vec<Stranger>> {
        let query = sqlx::query(self.statements().strangers()).bind(queue).bind(i64::from(limit));
        let query = query
            .bind(&known.machines)
            .bind(&known.versions)
            .bind(&known.steps)
            .bind(rows::micros(self.seen_every() * MISSED));
        Box::pin(
            async move { self.ask("looking for rows of unknown code", query).await?.iter().map(stranger).collect() },
        )
    }

    fn set_strangers_aside<'a>(&'a self, strangers: &'a [Stranger]) -> Pending<'a, usize> {
        let query = sqlx::query(self.statements().strangers_aside())
            .bind(strangers.iter().map(|s| s.id.get()).collect::<Vec<_>>())
            .bind(strangers.iter().map(|s| s.code.as_str()).collect::<Vec<_>>());
        Box::pin(async move { Ok(self.ask("setting rows of unknown code aside", query).await?.len()) })
    }

    fn unblock_codes<'a>(&'a self, causes: &'a [String], limit: u32) -> Pending<'a, Vec<String>> {
        let query = sqlx::query(self.statements().unblock_codes()).bind(causes).bind(i64::from(limit));
        Box::pin(async move {
            let woken = self.ask("waking what was set aside", query).await?;
            woken.iter().map(|r| rows::get(r, "queue")).collect()
        })
    }

    fn surroundings(&self, id: InstanceId) -> Pending<'_, Option<Surroundings>> {
        let query =
            sqlx::query(self.statements().surroundings()).bind(id.get()).bind(rows::micros(self.seen_every() * MISSED));
        Box::pin(async move { self.ask("looking why it is not running", query).await?.first().map(around).transpose() })
    }
}

fn worker(row: &PgRow) -> Result<LiveWorker, Error> {
    Ok(LiveWorker {
        name: rows::get(row, "name")?,
        queues: rows::get(row, "queues")?,
        machines: machines_of(&rows::get::<Vec<String>>(row, "codes")?),
        started_at: timestamp(rows::get(row, "started_us")?),
        seen_at: timestamp(rows::get(row, "seen_us")?),
    })
}

fn stranger(row: &PgRow) -> Result<Stranger, Error> {
    Ok(Stranger { id: InstanceId::new(rows::get(row, "id")?), code: rows::get(row, "code")? })
}

fn around(row: &PgRow) -> Result<Surroundings, Error> {
    Ok(Surroundings {
        now: timestamp(rows::get(row, "now_us")?),
        key: rows::get(row, "concurrency_key")?,
        key_limit: rows::get(row, "key_limit")?,
        holders: rows::get::<Vec<i64>>(row, "holders")?.into_iter().map(InstanceId::new).collect(),
        held: rows::get::<i64>(row, "held")?.unsigned_abs(),
        paused: rows::get::<Option<i64>>(row, "paused_us")?.map(timestamp),
        known: rows::get(row, "known")?,
        served: rows::get(row, "served")?,
    })
}
