//! One call's connection: bounded in time, given back only when it is clean.

use std::time::Duration;

use sqlx::{PgConnection, Postgres as Pg, pool::PoolConnection, postgres::PgArguments, postgres::PgRow, query::Query};

use super::{Postgres, error};
#[cfg(feature = "testing")]
use crate::store::lent::Held;
use crate::{Error, machine::Tx, model::Work, store::work};

/// A connection for one call.
///
/// It goes back to the pool only when every statement on it was answered and no transaction is open. A call dropped
/// half way (a time-out, a cancelled future) would leave an answer on the wire for the next user to wait for.
pub(crate) struct Session<'c> {
    connection: Connection<'c>,
    operation: &'static str,
    limit: Duration,
    /// Statements are prepared once a connection; a pooler may not know which server connection has them.
    named: bool,
    clean: bool,
    in_transaction: bool,
}

enum Connection<'c> {
    Pooled(Box<PoolConnection<Pg>>),
    /// In a caller's own transaction: theirs to end.
    Callers(&'c mut PgConnection),
    /// In a transaction that a test has lent.
    #[cfg(feature = "testing")]
    Lent(Held<Pg>),
}

impl Postgres {
    pub(super) async fn session(&self, operation: &'static str) -> Result<Session<'static>, Error> {
        #[cfg(feature = "testing")]
        if let Some(lent) = &self.0.lent {
            return lent.begin(self, operation).await;
        }
        let connection = self.0.pool.acquire().await.map_err(error::no_connection(operation))?;
        let connection = Connection::Pooled(Box::new(connection));
        let mut session = self.session_on(operation, connection);
        if self.0.options.transaction_pooler {
            // Behind a pooler settings live as long as one transaction.
            session.begin().await?;
            session.simple(include_str!("sql/settings.sql")).await?;
        }
        Ok(session)
    }

    /// One statement, in a session of its own.
    pub(super) async fn ask(
        &self,
        operation: &'static str,
        query: Query<'_, Pg, PgArguments>,
    ) -> Result<Vec<PgRow>, Error> {
        let mut session = self.session(operation).await?;
        let found = session.rows(query).await?;
        session.end().await?;
        Ok(found)
    }

    pub(crate) fn callers_session<'c>(&self, operation: &'static str, connection: &'c mut PgConnection) -> Session<'c> {
        self.session_on(operation, Connection::Callers(connection))
    }

    /// The settings of a test's own connection are left alone: what they cost is a test's.
    #[cfg(feature = "testing")]
    pub(super) fn lent_session(&self, operation: &'static str, held: Held<Pg>) -> Session<'static> {
        self.session_on(operation, Connection::Lent(held))
    }

    fn session_on<'c>(&self, operation: &'static str, connection: Connection<'c>) -> Session<'c> {
        let (limit, named) = (self.0.options.call_timeout, !self.0.options.transaction_pooler);
        Session { connection, operation, limit, named, clean: true, in_transaction: false }
    }
}

impl Session<'_> {
    /// Runs one statement.
    pub(super) async fn rows(&mut self, query: Query<'_, Pg, PgArguments>) -> Result<Vec<PgRow>, Error> {
        self.clean = false;
        let query = query.persistent(self.named);
        let answer = tokio::time::timeout(self.limit, query.fetch_all(self.connection.get())).await;
        self.settle(answer)
    }

    /// Begins a transaction; [`Session::end`] commits it.
    pub(super) async fn begin(&mut self) -> Result<(), Error> {
        // The park relies on a new snapshot for each statement, whatever the role's default is.
        self.begin_as("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").await
    }

    /// Begins a transaction that a crash of the server may take along: of claims only.
    pub(super) async fn begin_unflushed(&mut self) -> Result<(), Error> {
        self.begin_as("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = off").await
    }

    async fn begin_as(&mut self, begin: &'static str) -> Result<(), Error> {
        match (&self.connection, self.in_transaction) {
            (Connection::Callers(_), _) | (Connection::Pooled(_), true) => Ok(()),
            #[cfg(feature = "testing")]
            (Connection::Lent(_), _) => Ok(()),
            (Connection::Pooled(_), false) => {
                self.in_transaction = true;
                self.simple(begin).await
            }
        }
    }

    /// Runs the user's own work in this transaction. Whatever it leaves behind, an error of it ends the connection.
    pub(super) async fn work(&mut self, work: &Work) -> Result<(), Error> {
        if self.is_pooled() {
            self.simple(include_str!("sql/callers_settings.sql")).await?;
        }
        self.clean = false;
        work::run(work, Tx::on_postgres(self.connection.get()), self.limit).await?;
        if self.is_pooled() {
            self.simple(include_str!("sql/settings.sql")).await?;
        }
        Ok(())
    }

    /// Commits, if there is a transaction of ours, and gives the connection back.
    pub(super) async fn end(mut self) -> Result<(), Error> {
        if self.in_transaction {
            self.simple("COMMIT").await?;
            self.in_transaction = false;
        }
        #[cfg(feature = "testing")]
        if let Connection::Lent(held) = &mut self.connection {
            return held.end().await.map_err(error::at(self.operation));
        }
        Ok(())
    }

    /// Takes back a transaction of ours that an error has ended, so that its connection can be used again.
    pub(super) async fn roll_back(mut self) -> Result<(), Error> {
        if self.in_transaction {
            self.simple("ROLLBACK").await?;
            self.in_transaction = false;
        }
        Ok(())
    }

    /// Whether it has a connection of ours, with our settings.
    pub(super) fn is_pooled(&self) -> bool {
        matches!(self.connection, Connection::Pooled(_))
    }

    async fn simple(&mut self, sql: &'static str) -> Result<(), Error> {
        self.clean = false;
        let answer = tokio::time::timeout(self.limit, sqlx::raw_sql(sql).execute(self.connection.get())).await;
        self.settle(answer.map(|done| done.map(|_| ())))
    }

    fn settle<T>(&mut self, answer: Result<Result<T, sqlx::Error>, tokio::time::error::Elapsed>) -> Result<T, Error> {
        let answer = answer.map_err(|_| error::timed_out(self.operation))?;
        // An error that the server itself reported leaves the connection in step.
        self.clean = match &answer {
            Ok(_) => true,
            Err(e) => e.as_database_error().is_some_and(|db| !error::spoils_connection(db.code().as_deref())),
        };
        answer.map_err(error::at(self.operation))
    }
}

impl Connection<'_> {
    fn get(&mut self) -> &mut PgConnection {
        match self {
            Self::Pooled(connection) => connection,
            Self::Callers(connection) => connection,
            #[cfg(feature = "testing")]
            Self::Lent(held) => held.connection(),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        match &mut self.connection {
            Connection::Pooled(connection) if !self.clean || self.in_transaction => connection.close_on_drop(),
            Connection::Pooled(_) | Connection::Callers(_) => {}
            #[cfg(feature = "testing")]
            Connection::Lent(_) => {}
        }
    }
}
