//! Delivery, in our own transaction or in a caller's.

use std::collections::HashSet;

use sqlx::{SqliteConnection, sqlite::SqliteRow};

use super::{
    Sqlite,
    encode::json,
    rows,
    session::{Session, Survive},
    sql,
    start::last_id,
};
use crate::{
    Error,
    model::{InstanceId, SignalSpec, Status, Target},
    store::{Delivered, Delivery},
};

/// Rows a transaction of a delivery, so that others come to write between them.
const SIGNALS: usize = 1_000;

/// Whom a signal is for, while that instance has not ended.
pub(super) struct Addressee {
    pub(super) id: i64,
    queue: String,
    runnable: bool,
}

impl Sqlite {
    pub(super) async fn signal_all(&self, signals: &[SignalSpec]) -> Result<Vec<Delivery>, Error> {
        let mut answers = Vec::with_capacity(signals.len());
        for piece in signals.chunks(SIGNALS) {
            let mut session = self.writing("signalling", Survive::PowerCut).await?;
            answers.extend(self.signal_on(&mut session, piece).await?);
            session.end().await?;
        }
        Ok(answers)
    }

    /// Delivers within a caller's own transaction.
    pub(crate) async fn signal_within(
        &self,
        connection: &mut SqliteConnection,
        signals: &[SignalSpec],
    ) -> Result<Vec<Delivery>, Error> {
        let mut session = self.within("signalling", connection);
        let mut answers = Vec::with_capacity(signals.len());
        for piece in signals.chunks(SIGNALS) {
            answers.extend(self.signal_on(&mut session, piece).await?);
        }
        Ok(answers)
    }

    pub(super) async fn signal_on(
        &self,
        session: &mut Session<'_>,
        signals: &[SignalSpec],
    ) -> Result<Vec<Delivery>, Error> {
        let first = last_id(session, "signals").await? + 1;
        let to = addressees(session, signals.iter().map(|s| &s.target)).await?;
        let mut batch = Vec::with_capacity(signals.len());
        for ((id, signal), to) in (first..).zip(signals).zip(&to) {
            let Some(to) = to else { continue };
            batch.push((id, to.id, signal.name.as_str(), signal.payload.as_str(), signal.dedup.as_deref()));
        }
        let now = self.now();
        let delivered = ids(session.rows(sqlx::query(sql::signal()).bind(json(&batch)?).bind(now)).await?)?;
        let targets: HashSet<i64> =
            batch.iter().filter(|row| delivered.contains(&row.0)).map(|(_, to, ..)| *to).collect();
        let wake = sqlx::query(sql::signal_wake()).bind(json(&targets)?).bind(first).bind(now);
        let woken = ids(session.rows(wake).await?)?;
        let answers = (first..).zip(to).map(|(id, to)| delivery(to, delivered.contains(&id), &woken));
        Ok(answers.collect())
    }
}

fn delivery(to: Option<Addressee>, new: bool, woken: &HashSet<i64>) -> Delivery {
    let Some(to) = to else { return Delivery { delivered: Delivered::NoTarget, wake: None } };
    let id = InstanceId::new(to.id);
    let delivered = if new { Delivered::New(id) } else { Delivered::Duplicate(id) };
    Delivery { delivered, wake: (woken.contains(&to.id) || to.runnable).then_some(to.queue) }
}

/// Whom each target is; one answer each, in order.
pub(super) async fn addressees<'t>(
    session: &mut Session<'_>,
    targets: impl Iterator<Item = &'t Target>,
) -> Result<Vec<Option<Addressee>>, Error> {
    let address = |target: &Target| match target {
        Target::Id(id) => (Some(id.get()), None),
        Target::Key(key) => (None, Some(key.clone())),
    };
    let addresses: Vec<(Option<i64>, Option<String>)> = targets.map(address).collect();
    let found = session.rows(sqlx::query(sql::signal_targets()).bind(json(&addresses)?)).await?;
    let read = |r: &SqliteRow| -> Result<Option<Addressee>, Error> {
        let Some(id) = rows::get(r, "id")? else { return Ok(None) };
        Ok(Some(Addressee { id, queue: rows::get(r, "queue")?, runnable: rows::status(r)? == Status::Runnable }))
    };
    found.iter().map(read).collect()
}

fn ids(found: Vec<SqliteRow>) -> Result<HashSet<i64>, Error> {
    found.iter().map(|r| rows::get(r, "id")).collect()
}
