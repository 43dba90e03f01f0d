//! New instances, on our own connection or in a caller's transaction.

use sqlx::PgConnection;

use super::{Postgres, rows, session::Session, start_plain::Alike};
pub(super) use crate::store::lineage::Lineage;
use crate::{
    Error, StoreClass,
    model::{InstanceId, StartSpec, Started, Wait},
    store::written::{await_mode, exit_signals, split},
};

/// Rows a statement of a start.
const STARTS: usize = 1_000;
/// How often a start whose occupant no snapshot can see is tried again.
const LOOKS: usize = 20;

/// What a call in a caller's transaction leaves to do once that commits.
#[derive(Debug)]
pub(crate) struct InTransaction<T> {
    pub(crate) answers: Vec<T>,
    pub(crate) xid: Option<String>,
}

impl Postgres {
    pub(super) async fn start_all(&self, starts: &[StartSpec]) -> Result<Vec<Started>, Error> {
        let mut session = self.session("starting").await?;
        if starts.len() > STARTS || (starts.len() > 1 && starts.iter().any(|s| s.key.is_some())) {
            // All or none: one transaction over the pieces, and over a second look at a key that changes hands.
            session.begin().await?;
        }
        let started = self.start_on(&mut session, &starts.iter().collect::<Vec<_>>(), &[]).await?;
        session.end().await?;
        Ok(started.answers)
    }

    /// Starts children and others within a commit.
    pub(super) async fn start_with(
        &self,
        session: &mut Session<'_>,
        starts: &[&StartSpec],
        lineage: &[Option<Lineage>],
    ) -> Result<Vec<Started>, Error> {
        Ok(self.start_on(session, starts, lineage).await?.answers)
    }

    /// Starts on a given connection, so in whatever transaction it is in. `lineage` is empty, or as long as `starts`.
    pub(super) async fn start_on(
        &self,
        session: &mut Session<'_>,
        starts: &[&StartSpec],
        lineage: &[Option<Lineage>],
    ) -> Result<InTransaction<Started>, Error> {
        // In the order of keys over all pieces: two calls with the same keys cannot deadlock.
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_by_key(|&at| starts[at].key.as_deref());
        let mut answers = vec![None; starts.len()];
        let mut xid = None;
        for piece in order.chunks(STARTS) {
            let mut open = piece.to_vec();
            for look in 0.. {
                xid = self.start_piece(session, starts, lineage, &open, &mut answers).await?.or(xid);
                open.retain(|&at| answers[at].is_none());
                if open.is_empty() {
                    break;
                }
                if look == LOOKS {
                    return Err(Error::store("starting", StoreClass::Transient, "a key changes hands too fast"));
                }
            }
        }
        Ok(InTransaction { answers: answers.into_iter().flatten().collect(), xid })
    }

    async fn start_piece(
        &self,
        session: &mut Session<'_>,
        starts: &[&StartSpec],
        lineage: &[Option<Lineage>],
        piece: &[usize],
        answers: &mut [Option<Started>],
    ) -> Result<Option<String>, Error> {
        let of = |at: usize| lineage.get(at).copied().flatten();
        if piece.iter().all(|&at| of(at).is_none())
            && let Some(alike) = Alike::of(piece.iter().map(|&at| starts[at]))
        {
            let (started, xid) = alike.insert(self, session, piece.iter().map(|&at| starts[at])).await?;
            piece.iter().zip(started).for_each(|(&at, started)| answers[at] = Some(started));
            return Ok(Some(xid));
        }
        let columns = StartColumns::of(piece.iter().map(|&at| (starts[at], of(at))));
        let found = columns.insert(self, session).await?;
        let row = found.first().ok_or_else(|| rows::unreadable("new_ids"))?;
        let new: Vec<Option<i64>> = rows::get(row, "new_ids")?;
        let occupants: Vec<Option<i64>> = rows::get(row, "occupants")?;
        for ((&at, new), occupant) in piece.iter().zip(new).zip(occupants) {
            let occupant = occupant.map(|id| Started::Duplicate(InstanceId::new(id)));
            answers[at] = new.map(|id| Started::New(InstanceId::new(id))).or(occupant);
        }
        rows::get(row, "xid").map(Some)
    }

    /// Starts within a caller's own transaction.
    pub(crate) async fn start_within(
        &self,
        connection: &mut PgConnection,
        starts: &[StartSpec],
    ) -> Result<InTransaction<Started>, Error> {
        let starts: Vec<&StartSpec> = starts.iter().collect();
        self.start_on(&mut self.callers_session("starting", connection), &starts, &[]).await
    }
}

/// A piece of starts, column by column.
#[derive(Default)]
struct StartColumns<'a> {
    machines: Vec<&'a str>,
    versions: Vec<i32>,
    steps: Vec<&'a str>,
    states: Vec<&'a str>,
    carries: Vec<Option<&'a str>>,
    keys: Vec<Option<&'a str>>,
    kept: Vec<bool>,
    queues: Vec<&'a str>,
    priorities: Vec<i16>,
    own_queues: Vec<Option<&'a str>>,
    own_priorities: Vec<Option<i16>>,
    after_us: Vec<i64>,
    at_us: Vec<Option<i64>>,
    awaits: Vec<Option<String>>,
    wait_us: Vec<Option<i64>>,
    wait_at_us: Vec<Option<i64>>,
    concurrency_keys: Vec<Option<&'a str>>,
    await_modes: Vec<Option<i16>>,
    await_needs: Vec<Option<i32>>,
    await_groups: Vec<Option<String>>,
    parents: Vec<Option<i64>>,
    rounds: Vec<Option<i64>>,
    indexes: Vec<Option<i32>>,
    shielded: Vec<bool>,
    deadline_us: Vec<Option<i64>>,
    expires: Vec<bool>,
    exit_signals: Vec<Option<String>>,
    rates: Vec<Option<&'a str>>,
    weights: Vec<Option<f64>>,
}

impl<'a> StartColumns<'a> {
    fn of(starts: impl Iterator<Item = (&'a StartSpec, Option<Lineage>)>) -> Self {
        let mut columns = Self::default();
        starts.for_each(|(s, lineage)| columns.push(s, lineage));
        columns
    }

    fn push(&mut self, s: &'a StartSpec, lineage: Option<Lineage>) {
        self.parents.push(lineage.map(|l| l.parent));
        self.rounds.push(lineage.map(|l| l.round));
        self.indexes.push(lineage.map(|l| l.index));
        self.shielded.push(s.entry.shielded);
        self.deadline_us.push(s.deadline.map(rows::micros));
        self.rates.push(s.entry.rate.as_ref().map(|rate| rate.key.as_str()));
        self.weights.push(s.entry.rate.as_ref().map(|rate| rate.weight));
        self.expires.push(s.exits.expires);
        self.exit_signals.push(exit_signals(&s.exits).map(rows::text_array));
        let wait = s.entry.wait.as_ref();
        self.await_modes.push(wait.and_then(await_mode));
        self.await_needs.push(wait.map(Wait::need));
        self.await_groups.push(wait.map(|w| rows::number_array(&w.groups)));
        self.machines.push(s.machine);
        self.versions.push(s.version);
        self.steps.push(s.entry.step);
        self.states.push(s.entry.state.as_str());
        self.carries.push(s.carry.as_ref().map(|c| c.as_str()));
        self.keys.push(s.key.as_deref());
        self.kept.push(s.key_kept);
        self.queues.push(s.first_queue());
        self.priorities.push(s.first_priority());
        self.own_queues.push(s.queue.as_deref());
        self.own_priorities.push(s.priority);
        self.concurrency_keys.push(s.entry.concurrency.as_ref().map(|slot| slot.key.as_str()));
        self.awaits.push(s.entry.wait.as_ref().map(|w| rows::text_array(&w.names)));
        let (wait_us, wait_at_us) = split(s.entry.wait.as_ref().and_then(|w| w.deadline));
        self.wait_us.push(wait_us);
        self.wait_at_us.push(wait_at_us);
        let (timer_us, at_us) = split(s.entry.timer);
        self.after_us.push(rows::micros(s.delay).saturating_add(timer_us.unwrap_or(0)));
        self.at_us.push(at_us);
    }

    async fn insert(&self, store: &Postgres, session: &mut Session<'_>) -> Result<Vec<sqlx::postgres::PgRow>, Error> {
        let query = sqlx::query(store.statements().start())
            .bind(&self.machines)
            .bind(&self.versions)
            .bind(&self.steps)
            .bind(&self.states)
            .bind(rows::column(&self.carries))
            .bind(rows::column(&self.keys))
            .bind(&self.kept)
            .bind(&self.queues)
            .bind(&self.priorities)
            .bind(rows::column(&self.own_queues))
            .bind(rows::column(&self.own_priorities))
            .bind(&self.after_us)
            .bind(rows::column(&self.at_us))
            .bind(rows::column(&self.awaits))
            .bind(rows::column(&self.wait_us))
            .bind(rows::column(&self.wait_at_us))
            .bind(rows::column(&self.concurrency_keys))
            .bind(&store.0.tables[0])
            .bind(rows::column(&self.await_modes))
            .bind(rows::column(&self.await_needs))
            .bind(rows::column(&self.await_groups))
            .bind(rows::column(&self.parents))
            .bind(rows::column(&self.rounds))
            .bind(rows::column(&self.indexes))
            .bind(&self.shielded)
            .bind(rows::column(&self.deadline_us))
            .bind(&self.expires)
            .bind(rows::column(&self.exit_signals))
            .bind(rows::column(&self.rates))
            .bind(rows::column(&self.weights));
        session.rows(query).await
    }
}
