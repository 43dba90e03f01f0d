//! New instances that differ in nothing but their data: a statement of few columns.

use super::{Postgres, rows, session::Session};
use crate::{
    Error,
    model::{Entry, InstanceId, StartSpec, Started},
};

/// What they have in common.
#[derive(PartialEq, Eq)]
pub(super) struct Alike<'a> {
    machine: &'a str,
    version: i32,
    step: &'a str,
    /// The first row's, and the instance's own.
    queue: (&'a str, Option<&'a str>),
    priority: (i16, Option<i16>),
}

impl<'a> Alike<'a> {
    /// `None` when they differ, or one of them is more than a row that is due.
    pub(super) fn of(mut starts: impl Iterator<Item = &'a StartSpec>) -> Option<Self> {
        let first = Self::plain(starts.next()?)?;
        starts.all(|start| Self::plain(start).as_ref() == Some(&first)).then_some(first)
    }

    fn plain(start: &'a StartSpec) -> Option<Self> {
        // Named one by one: what comes new is decided on here.
        let StartSpec {
            machine, version, entry, carry: _, key, key_kept: _, delay, defaults: _, deadline, exits, ..
        } = start;
        let Entry { step, state: _, wait, join: _, timer, queue: _, priority: _, concurrency, rate, shielded } = entry;
        let waits = wait.is_some() || timer.is_some() || !delay.is_zero() || deadline.is_some();
        let limited = concurrency.is_some() || rate.is_some();
        let plain = key.is_none() && !waits && !limited && !shielded && !exits.expires && exits.signals.is_empty();
        plain.then(|| Self {
            machine,
            version: *version,
            step,
            queue: (start.first_queue(), start.queue.as_deref()),
            priority: (start.first_priority(), start.priority),
        })
    }

    pub(super) async fn insert(
        &self,
        store: &Postgres,
        session: &mut Session<'_>,
        starts: impl Iterator<Item = &'a StartSpec> + Clone,
    ) -> Result<(Vec<Started>, String), Error> {
        let query = sqlx::query(store.statements().start_plain())
            .bind(self.machine)
            .bind(self.version)
            .bind(self.step)
            .bind(starts.clone().map(|s| s.entry.state.as_str()).collect::<Vec<_>>())
            .bind(rows::column(&starts.map(|s| s.carry.as_ref().map(|c| c.as_str())).collect::<Vec<_>>()))
            .bind(self.queue.0)
            .bind(self.priority.0)
            .bind(self.queue.1)
            .bind(self.priority.1)
            .bind(&store.0.tables[0]);
        let found = session.rows(query).await?;
        let row = found.first().ok_or_else(|| rows::unreadable("new_ids"))?;
        let ids: Vec<i64> = rows::get(row, "new_ids")?;
        Ok((ids.into_iter().map(|id| Started::New(InstanceId::new(id))).collect(), rows::get(row, "xid")?))
    }
}
