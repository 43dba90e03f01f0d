//! The store within a transaction that a test has lent. There the server's clock stands still, so the test's stands for it:
//! the statements take it from a setting.

use jiff::Timestamp;
use sqlx::Postgres as Pg;

use super::{Postgres, error, session::Session};
use crate::{
    Error,
    store::{clock::Clock, lent::Lent},
};

/// What the statements have instead of the server's clock.
const NOW: &str = "current_setting('gen_durable.now')::timestamptz";

/// The transaction, and the clock of everything in it.
#[derive(Debug)]
pub(super) struct Within {
    pub(super) lent: Lent<Pg>,
    pub(super) clock: Clock,
}

impl Within {
    /// Begins a call.
    pub(super) async fn begin(&self, store: &Postgres, operation: &'static str) -> Result<Session<'static>, Error> {
        let held = self.lent.begin().await.map_err(error::no_connection(operation))?;
        let mut session = store.lent_session(operation, held);
        let now = Timestamp::from_microsecond(self.clock.now()).unwrap_or(Timestamp::MAX).to_string();
        session.rows(sqlx::query(include_str!("sql/standing.sql")).bind(now)).await?;
        Ok(session)
    }
}

impl Postgres {
    /// The server's time, which no row of this transaction is ahead of.
    pub(crate) async fn time_in(transaction: &mut sqlx::PgConnection) -> Result<i64, Error> {
        let time = sqlx::query_scalar(include_str!("sql/clock.sql")).fetch_one(transaction).await;
        time.map_err(error::at("reading the clock"))
    }
}

/// A statement on the test's clock.
pub(super) fn standing(statement: &str) -> String {
    statement.replace("clock_timestamp()", NOW).replace("now()", NOW)
}
