//! Delivery, in our own transaction or in a caller's.

use sqlx::PgConnection;

use super::{Postgres, rows, session::Session, start::InTransaction};
use crate::{
    Error, StoreClass,
    model::{InstanceId, SignalSpec, Target},
    store::{Delivered, Delivery},
};

/// Rows a statement: its joins cost the square of the batch.
const SIGNALS: usize = 200;
/// How often a piece is tried again whose keys have other occupants each time.
const LOOKS: usize = 20;

impl Postgres {
    pub(super) async fn signal_all(&self, signals: &[SignalSpec]) -> Result<Vec<Delivery>, Error> {
        let mut answers = Vec::with_capacity(signals.len());
        for piece in signals.chunks(SIGNALS) {
            // A piece is a transaction: its row locks are short.
            let mut session = self.session("signalling").await?;
            answers.extend(self.signal_on(&mut session, piece).await?.answers);
            session.end().await?;
        }
        Ok(answers)
    }

    /// Delivers to whom nobody holds.
    pub(super) async fn signal_free(&self, signals: &[SignalSpec]) -> Result<Vec<Option<Delivery>>, Error> {
        let mut answers = Vec::with_capacity(signals.len());
        for piece in signals.chunks(SIGNALS) {
            let mut session = self.session("signalling").await?;
            answers.extend(self.deliver(&mut session, piece, false).await?.answers);
            session.end().await?;
        }
        Ok(answers)
    }

    /// Delivers within a caller's own transaction.
    pub(crate) async fn signal_within(
        &self,
        connection: &mut PgConnection,
        signals: &[SignalSpec],
    ) -> Result<InTransaction<Delivery>, Error> {
        let mut session = self.callers_session("signalling", connection);
        if signals.len() > 1 {
            // In the order of ids, before any other is had: what is locked stays so until the caller's end, and two callers with the same
            // targets would wait for each other.
            self.hold_targets(&mut session, signals).await?;
        }
        self.signal_on(&mut session, signals).await
    }

    async fn hold_targets(&self, session: &mut Session<'_>, signals: &[SignalSpec]) -> Result<(), Error> {
        let (ids, keys) = targets(signals);
        session.rows(sqlx::query(self.statements().hold_targets()).bind(ids).bind(keys)).await.map(drop)
    }

    /// Delivers on a given connection, so in whatever transaction it is in, and waits for whoever holds a target.
    pub(super) async fn signal_on(
        &self,
        session: &mut Session<'_>,
        signals: &[SignalSpec],
    ) -> Result<InTransaction<Delivery>, Error> {
        let mut all = InTransaction { answers: Vec::with_capacity(signals.len()), xid: None };
        for piece in signals.chunks(SIGNALS) {
            let mut look = 0;
            loop {
                let InTransaction { answers, xid } = self.deliver(session, piece, true).await?;
                if let Some(answers) = answers.into_iter().collect::<Option<Vec<_>>>() {
                    all.answers.extend(answers);
                    all.xid = xid.or(all.xid);
                    break;
                }
                if look == LOOKS {
                    return Err(Error::store("signalling", StoreClass::Transient, "a key changes hands too fast"));
                }
                look += 1;
                // Nothing was delivered. Whose lock is had stays ours, so the next look finds it.
                session.begin().await?;
                self.hold_targets(session, piece).await?;
            }
        }
        Ok(all)
    }

    /// One statement, which waits for nobody: `None` for a target that someone else holds; then, if `all`, for every one, and
    /// nothing was delivered.
    async fn deliver(
        &self,
        session: &mut Session<'_>,
        piece: &[SignalSpec],
        all: bool,
    ) -> Result<InTransaction<Option<Delivery>>, Error> {
        let (ids, keys) = targets(piece);
        let query = sqlx::query(self.statements().signal())
            .bind(ids)
            .bind(keys)
            .bind(piece.iter().map(|s| s.name.as_str()).collect::<Vec<_>>())
            .bind(piece.iter().map(|s| s.payload.as_str()).collect::<Vec<_>>())
            .bind(piece.iter().map(|s| s.dedup.as_deref()).collect::<Vec<_>>())
            .bind(&self.0.tables[1])
            .bind(all);
        let found = session.rows(query).await?;
        let row = found.first().ok_or_else(|| rows::unreadable("targets"))?;
        let targets: Vec<Option<i64>> = rows::get(row, "targets")?;
        let new: Vec<bool> = rows::get(row, "new")?;
        let busy: Vec<bool> = rows::get(row, "busy")?;
        let wakes: Vec<Option<String>> = rows::get(row, "wakes")?;
        let whole = !all || !busy.contains(&true);
        let answers = targets.into_iter().zip(new).zip(busy).zip(wakes);
        let answers = answers.map(|(((target, new), busy), wake)| {
            (whole && !busy).then(|| Delivery { delivered: delivered(target, new), wake })
        });
        Ok(InTransaction { answers: answers.collect(), xid: rows::get(row, "xid")? })
    }
}

fn delivered(target: Option<i64>, new: bool) -> Delivered {
    match target.map(InstanceId::new) {
        None => Delivered::NoTarget,
        Some(id) if new => Delivered::New(id),
        Some(id) => Delivered::Duplicate(id),
    }
}

/// The ids and the business keys of a piece, side by side.
fn targets(piece: &[SignalSpec]) -> (Vec<Option<i64>>, Vec<Option<&str>>) {
    let mut sides = (Vec::with_capacity(piece.len()), Vec::with_capacity(piece.len()));
    for signal in piece {
        let (id, key) = match &signal.target {
            Target::Id(id) => (Some(id.get()), None),
            Target::Key(key) => (None, Some(key.as_str())),
        };
        sides.0.push(id);
        sides.1.push(key);
    }
    sides
}
