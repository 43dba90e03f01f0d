//! Starts and signals in a caller's own transaction: they are committed with the caller's rows, or not at all.

mod callers;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod watch;

pub use callers::CallersConnection;
#[cfg(feature = "postgres")]
pub(super) use watch::Watch;

use super::{Client, Handle, SignalOrStart, SignalReceipt, Signalling, signal, signal_or_start, start};
use crate::{
    Error,
    machine::{Machine, Startable},
    model::{SignalSpec, StartSpec, Started},
    store::Delivered,
};

/// A client within a caller's transaction. Nothing is visible, and nobody is woken, before the caller commits.
pub struct InTransaction<'t> {
    client: Client,
    connection: CallersConnection<'t>,
}

impl Client {
    /// Works within `transaction`, which stays the caller's to commit or roll back: a transaction or a connection of
    /// sqlx, on the database of this client. Workers are woken once it has committed: on Postgres at once, on SQLite
    /// within 50 ms.
    ///
    /// On SQLite begin it with `BEGIN IMMEDIATE` (`begin_with`): one that has read before it writes fails when another
    /// wrote in between.
    ///
    /// ```ignore
    /// let mut tx = pool.begin().await?;
    /// sqlx::query("INSERT INTO orders VALUES ($1)").bind(7).execute(&mut *tx).await?;
    /// client.in_transaction(&mut tx).start(start(Reserve { order: 7 })).await?;
    /// tx.commit().await?;
    /// ```
    pub fn in_transaction<'t>(&self, transaction: impl Into<CallersConnection<'t>>) -> InTransaction<'t> {
        InTransaction { client: self.clone(), connection: transaction.into() }
    }
}

impl InTransaction<'_> {
    /// As [`Client::start`].
    ///
    /// # Errors
    /// As [`Client::start`]; an error of the database ends the caller's transaction as well.
    pub async fn start<S: Startable>(&mut self, start: S) -> Result<Handle<S::Machine>, Error> {
        let started = self.start_specs(&[start.into_spec()?]).await?;
        let started = *started.first().ok_or_else(Error::stopped)?;
        Ok(Handle::started(self.client.clone(), started))
    }

    /// As [`Client::start_many`].
    ///
    /// # Errors
    /// As [`InTransaction::start`].
    pub async fn start_many<S: Startable>(
        &mut self,
        starts: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Started>, Error> {
        let specs = start::specs(starts)?;
        self.start_specs(&specs).await
    }

    /// As awaiting the signal itself.
    ///
    /// # Errors
    /// `is_no_target`, which leaves the transaction usable; otherwise as [`InTransaction::start`].
    pub async fn signal(&mut self, signal: Signalling) -> Result<SignalReceipt, Error> {
        let delivered = self.signal_specs(&[signal.into_spec()?]).await?;
        signal::receipt(delivered.first().copied())
    }

    /// As [`Client::signal_many`].
    ///
    /// # Errors
    /// As [`InTransaction::start`].
    pub async fn signal_many(
        &mut self,
        signals: impl IntoIterator<Item = Signalling>,
    ) -> Result<Vec<Delivered>, Error> {
        let specs = signal::specs(signals)?;
        self.signal_specs(&specs).await
    }

    /// As awaiting [`Client::signal_or_start`] itself.
    ///
    /// ```ignore
    /// let both = client.signal_or_start(start(Open { customer: 7 }), ItemAdded { sku });
    /// let (cart, _) = client.in_transaction(&mut tx).signal_or_start(both).await?;
    /// ```
    ///
    /// # Errors
    /// As [`Client::signal_or_start`], of which `is_no_target` leaves the transaction usable; otherwise as
    /// [`InTransaction::start`].
    pub async fn signal_or_start<M: Machine>(
        &mut self,
        both: SignalOrStart<M>,
    ) -> Result<(Handle<M>, SignalReceipt), Error> {
        let both = both.into_checked()?;
        let (started, delivery) = match &mut self.connection {
            #[cfg(feature = "postgres")]
            CallersConnection::Postgres(connection) => {
                postgres::signal_or_start(&self.client, connection, &both).await?
            }
            #[cfg(feature = "sqlite")]
            CallersConnection::Sqlite(connection) => sqlite::signal_or_start(&self.client, connection, &both).await?,
        };
        signal_or_start::answer(self.client.clone(), started, delivery)
    }

    async fn start_specs(&mut self, specs: &[StartSpec]) -> Result<Vec<Started>, Error> {
        match &mut self.connection {
            #[cfg(feature = "postgres")]
            CallersConnection::Postgres(connection) => postgres::start(&self.client, connection, specs).await,
            #[cfg(feature = "sqlite")]
            CallersConnection::Sqlite(connection) => sqlite::start(&self.client, connection, specs).await,
        }
    }

    async fn signal_specs(&mut self, specs: &[SignalSpec]) -> Result<Vec<Delivered>, Error> {
        match &mut self.connection {
            #[cfg(feature = "postgres")]
            CallersConnection::Postgres(connection) => postgres::signal(&self.client, connection, specs).await,
            #[cfg(feature = "sqlite")]
            CallersConnection::Sqlite(connection) => sqlite::signal(&self.client, connection, specs).await,
        }
    }
}

impl std::fmt::Debug for InTransaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InTransaction").finish_non_exhaustive()
    }
}
