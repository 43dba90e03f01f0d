//! A signal to the occupant of a business key, or to the instance that is started with it. Nobody else writes between
//! the two.

use sqlx::SqliteConnection;

use super::{
    Sqlite,
    session::{Session, Survive},
};
use crate::{
    Error, StoreClass,
    model::{SignalSpec, StartSpec, Started, Target},
    store::Delivery,
};

impl Sqlite {
    pub(super) async fn signal_or_start_one(
        &self,
        start: &StartSpec,
        signal: &SignalSpec,
    ) -> Result<(Started, Delivery), Error> {
        let mut session = self.writing("signalling or starting", Survive::PowerCut).await?;
        let both = self.signal_or_start_on(&mut session, start, signal).await?;
        session.end().await?;
        Ok(both)
    }

    /// Within a caller's own transaction.
    pub(crate) async fn signal_or_start_within(
        &self,
        connection: &mut SqliteConnection,
        start: &StartSpec,
        signal: &SignalSpec,
    ) -> Result<(Started, Delivery), Error> {
        self.signal_or_start_on(&mut self.within("signalling or starting", connection), start, signal).await
    }

    async fn signal_or_start_on(
        &self,
        session: &mut Session<'_>,
        start: &StartSpec,
        signal: &SignalSpec,
    ) -> Result<(Started, Delivery), Error> {
        let unanswered = || Error::store("signalling or starting", StoreClass::Permanent, "no answer");
        let started = self.start_on(session, &[(start, None)]).await?;
        let started = *started.first().ok_or_else(unanswered)?;
        let signal = SignalSpec { target: Target::Id(started.id()), ..signal.clone() };
        let delivery = self.signal_on(session, &[signal]).await?.pop().ok_or_else(unanswered)?;
        Ok((started, delivery))
    }
}
