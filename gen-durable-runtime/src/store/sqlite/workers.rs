//! Who lives, what they know, and rows of code that none of them does.

use std::time::Duration;

use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite, claim,
    encode::json,
    rows,
    session::{Session, Survive},
    sql,
};
use crate::{
    Error,
    model::{InstanceId, Surroundings},
    store::{
        Known, LiveWorker, Pending, Stranger, WorkerEntry, WorkerStore,
        workers::{MISSED, machines_of},
        written::{micros, timestamp},
    },
};

impl WorkerStore for Sqlite {
    /// Seldom: an idle worker is to leave its file alone.
    fn seen_every(&self) -> Duration {
        Duration::from_secs(600)
    }

    fn put_worker<'a>(&'a self, worker: &'a WorkerEntry) -> Pending<'a, ()> {
        Box::pin(self.put(worker))
    }

    fn see_worker<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        let query = sqlx::query(sql::worker_seen()).bind(name).bind(self.now());
        Box::pin(async move {
            let mut session = self.light("registering a worker").await?;
            let seen = session.rows(query).await?;
            session.end().await?;
            Ok(!seen.is_empty())
        })
    }

    fn remove_worker<'a>(&'a self, name: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            let mut session = self.light("removing a worker").await?;
            session.rows(sqlx::query(sql::worker_remove()).bind(name)).await?;
            session.end().await
        })
    }

    fn workers(&self) -> Pending<'_, Vec<LiveWorker>> {
        let query = sqlx::query(sql::workers()).bind(self.seen_since());
        Box::pin(async move { self.read("reading workers", query).await?.iter().map(worker).collect() })
    }

    fn strangers<'a>(&'a self, queue: &'a str, known: &'a Known, limit: u32) -> Pending<'a, Vec<Stranger>> {
        Box::pin(async move {
            let query = sqlx::query(sql::strangers()).bind(queue).bind(i64::from(limit));
            let query = query.bind(json(&claim::known(known))?).bind(self.now()).bind(self.seen_since());
            self.read("looking for rows of unknown code", query).await?.iter().map(stranger).collect()
        })
    }

    fn set_strangers_aside<'a>(&'a self, strangers: &'a [Stranger]) -> Pending<'a, usize> {
        Box::pin(async move {
            let all: Vec<(i64, &str)> = strangers.iter().map(|s| (s.id.get(), s.code.as_str())).collect();
            let query = sqlx::query(sql::strangers_aside()).bind(json(&all)?).bind(self.now());
            let mut session = self.light("setting rows of unknown code aside").await?;
            let aside = session.rows(query).await?;
            session.end().await?;
            Ok(aside.len())
        })
    }

    fn unblock_codes<'a>(&'a self, causes: &'a [String], limit: u32) -> Pending<'a, Vec<String>> {
        Box::pin(async move {
            let query = sqlx::query(sql::unblock_codes()).bind(json(&causes)?).bind(i64::from(limit)).bind(self.now());
            let mut session = self.light("waking what was set aside").await?;
            let woken = session.rows(query).await?;
            session.end().await?;
            woken.iter().map(|r| rows::get(r, "queue")).collect()
        })
    }

    fn surroundings(&self, id: InstanceId) -> Pending<'_, Option<Surroundings>> {
        let query = sqlx::query(sql::surroundings()).bind(id.get()).bind(self.seen_since()).bind(self.now());
        Box::pin(
            async move { self.read("looking why it is not running", query).await?.first().map(around).transpose() },
        )
    }
}

impl Sqlite {
    async fn put(&self, worker: &WorkerEntry) -> Result<(), Error> {
        let mut session = self.light("registering a worker").await?;
        session.rows(sqlx::query(sql::worker_put_gone()).bind(self.now())).await?;
        let query = sqlx::query(sql::worker_put()).bind(&worker.name).bind(json(&worker.queues)?);
        session.rows(query.bind(json(&worker.codes)?).bind(self.now())).await?;
        session.end().await
    }

    /// What a power cut may take: the next look does it again.
    async fn light(&self, operation: &'static str) -> Result<Session<'_>, Error> {
        self.writing(operation, Survive::Crash).await
    }

    fn seen_since(&self) -> i64 {
        self.now() - micros(self.seen_every() * MISSED)
    }
}

fn worker(row: &SqliteRow) -> Result<LiveWorker, Error> {
    Ok(LiveWorker {
        name: rows::get(row, "name")?,
        queues: rows::list(row, "queues")?.unwrap_or_default(),
        machines: machines_of(&rows::list::<String>(row, "codes")?.unwrap_or_default()),
        started_at: timestamp(rows::get(row, "started_at")?),
        seen_at: timestamp(rows::get(row, "seen_at")?),
    })
}

fn stranger(row: &SqliteRow) -> Result<Stranger, Error> {
    Ok(Stranger { id: InstanceId::new(rows::get(row, "id")?), code: rows::get(row, "code")? })
}

fn around(row: &SqliteRow) -> Result<Surroundings, Error> {
    let holders: Vec<i64> = rows::list(row, "holders")?.unwrap_or_default();
    Ok(Surroundings {
        now: timestamp(rows::get(row, "now")?),
        key: rows::get(row, "concurrency_key")?,
        key_limit: rows::get(row, "key_limit")?,
        holders: holders.into_iter().map(InstanceId::new).collect(),
        held: rows::small(row, "held")?,
        paused: rows::get::<Option<i64>>(row, "paused_at")?.map(timestamp),
        known: rows::get(row, "known")?,
        served: rows::get(row, "served")?,
    })
}
