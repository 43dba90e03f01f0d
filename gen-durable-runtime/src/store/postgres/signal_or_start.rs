//! A signal to the occupant of a business key, or to the instance that is started with it.

use sqlx::PgConnection;

use super::{Postgres, session::Session, start::InTransaction};
use crate::{
    Error, StoreClass,
    model::{SignalSpec, StartSpec, Started, Target},
    store::{Delivered, Delivery},
};

/// How often an occupant that ends in the same moment is followed by the next one.
const LOOKS: usize = 20;

type Both = (Started, Delivery);

impl Postgres {
    pub(super) async fn signal_or_start_one(&self, start: &StartSpec, signal: &SignalSpec) -> Result<Both, Error> {
        let mut session = self.session("signalling or starting").await?;
        session.begin().await?;
        let both = self.signal_or_start_on(&mut session, start, signal).await?;
        session.end().await?;
        let InTransaction { mut answers, .. } = both;
        answers.pop().ok_or_else(|| Error::store("signalling or starting", StoreClass::Permanent, "no answer"))
    }

    /// Within a caller's own transaction.
    pub(crate) async fn signal_or_start_within(
        &self,
        connection: &mut PgConnection,
        start: &StartSpec,
        signal: &SignalSpec,
    ) -> Result<InTransaction<Both>, Error> {
        let mut session = self.callers_session("signalling or starting", connection);
        self.signal_or_start_on(&mut session, start, signal).await
    }

    /// The start says who has the key, the signal locks that row: an occupant that ended between the two gave the key
    /// up, and the start is tried again. One that still has it then keeps it for ever (`kept`).
    async fn signal_or_start_on(
        &self,
        session: &mut Session<'_>,
        start: &StartSpec,
        signal: &SignalSpec,
    ) -> Result<InTransaction<Both>, Error> {
        let mut ended = None;
        for _ in 0..LOOKS {
            let started = self.start_on(session, &[start], &[]).await?;
            let Some(&who) = started.answers.first() else { continue };
            let signal = SignalSpec { target: Target::Id(who.id()), ..signal.clone() };
            let sent = self.signal_on(session, &[signal]).await?;
            let xid = sent.xid.or(started.xid);
            for delivery in sent.answers {
                match delivery.delivered {
                    Delivered::NoTarget if ended != Some(who.id()) => ended = Some(who.id()),
                    Delivered::NoTarget | Delivered::New(_) | Delivered::Duplicate(_) => {
                        return Ok(InTransaction { answers: vec![(who, delivery)], xid });
                    }
                }
            }
        }
        Err(Error::store("signalling or starting", StoreClass::Transient, "a key changes hands too fast"))
    }
}
