//! Charges: what outcomes really used, taken from rate limits in the transaction that commits them.

use super::{Postgres, session::Session};
use crate::{Error, StoreClass, model::Transition, store::limiting::Charges};

impl Postgres {
    /// Only what was written charges. Nothing is asked where nothing is charged.
    pub(super) async fn charge(&self, session: &mut Session<'_>, written: &[&Transition]) -> Result<(), Error> {
        let charges = Charges::of(written);
        if charges.is_empty() {
            return Ok(());
        }
        let keys: Vec<&str> = charges.keys().map(|(_, key)| key).collect();
        session.rows(sqlx::query(self.statements().charge_hold()).bind(keys)).await?;
        let mut admission = self.limits_named(session, &charges.names()).await?;
        charges.make_known(&mut admission);
        let counted = charges.keys().map(|key| (key, 1)).collect();
        self.hold_counters(session, &mut admission, &counted).await?;
        if admission.buckets.values().any(|b| b.locked) {
            // Made since the first look: the commit is tried again.
            return Err(Error::store(
                "charging a rate limit",
                StoreClass::Conflict,
                "its counters were just made anew",
            ));
        }
        charges.take_from(&mut admission);
        self.write_counters(session, &admission).await
    }
}
