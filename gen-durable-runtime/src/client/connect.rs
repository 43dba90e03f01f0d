use std::{sync::Arc, time::Duration};

use super::{gather::Gather, signal::Signals, start::Starts, waits::Waits};
use crate::{
    Error,
    store::{DatabaseOptions, Migration, Notifier, SchemaName, Store},
};

/// A handle to the database: cheap to clone, shared by a whole process.
///
/// It needs no worker in this process, and a worker needs no client elsewhere.
///
/// ```no_run
/// # use gen_durable_runtime::client::Client;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect("sqlite://shop.db").await?; // or "postgres://localhost/shop"
/// for instance in client.list(Default::default()).await? {
///     println!("{} {} {}", instance.id, instance.machine, instance.status);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Arc<dyn Store>,
    pub(super) notifier: Notifier,
    pub(super) waits: Waits,
    pub(super) starts: Gather<Starts>,
    pub(super) signals: Gather<Signals>,
    #[cfg(feature = "postgres")]
    pub(super) watch: super::transaction::Watch,
}

/// How a client reaches its database.
#[derive(Debug, Clone)]
pub struct ClientOptions(DatabaseOptions);

impl Client {
    /// Connects, and checks that the schema that stands serves this program. The URL chooses the store:
    /// `sqlite://file.db`, `sqlite:///absolute/file.db` or `postgres://user@host/database`.
    ///
    /// # Errors
    /// When the database cannot be reached, or its schema is missing, older or newer.
    pub async fn connect(url: impl Into<String>) -> Result<Self, Error> {
        Self::options(url).connect().await
    }

    /// More to say than the URL.
    ///
    /// ```no_run
    /// # use gen_durable_runtime::client::Client;
    /// # async fn run() -> Result<(), gen_durable_runtime::Error> {
    /// let client = Client::options("postgres://localhost/shop").schema("durable")?.pool_size(4).connect().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn options(url: impl Into<String>) -> ClientOptions {
        ClientOptions(DatabaseOptions::new(url))
    }

    /// A client on a store that is open.
    pub fn on(store: Arc<dyn Store>) -> Self {
        let (notifier, waits) = (Notifier::new(Arc::clone(&store)), Waits::new(Arc::clone(&store)));
        let starts = Gather::new(Starts { store: Arc::clone(&store), notifier: notifier.clone() });
        let signals = Gather::new(Signals { store: Arc::clone(&store), notifier: notifier.clone() });
        Self(Arc::new(Inner {
            store,
            notifier,
            waits,
            starts,
            signals,
            #[cfg(feature = "postgres")]
            watch: Default::default(),
        }))
    }

    /// The database, without credentials.
    pub fn describe(&self) -> String {
        self.0.store.describe()
    }

    /// Brings the schema up to the latest version, or to the one asked for; a line for each step done.
    ///
    /// # Errors
    /// When a right is missing, others hold the tables for too long, or a rewrite was not allowed.
    pub async fn migrate(&self, migration: Migration) -> Result<Vec<String>, Error> {
        self.0.store.migrate(&migration).await
    }

    /// Checks that the schema that stands serves this program.
    ///
    /// # Errors
    /// When it is missing, older or newer; the text says what to run.
    pub async fn check(&self) -> Result<(), Error> {
        self.0.store.check().await
    }

    /// The database's URL, credentials included: for a handler that keeps tables of its own in the same database.
    pub fn url(&self) -> &str {
        self.0.store.url()
    }

    /// Sends the wake-ups that are still on their way, then closes the connections of every clone; waits under way end
    /// with an error at once. A process that ends right after a start or a signal calls it, or the poll must do.
    pub async fn close(&self) {
        self.0.waits.stop();
        self.0.notifier.flush().await;
        let _ = self.0.store.close().await;
    }

    /// The store, for a worker of this process.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// The sender of wake-ups, for a worker of this process.
    pub fn notifier(&self) -> &Notifier {
        &self.0.notifier
    }
}

impl ClientOptions {
    /// The schema the tables live in. Default: `public`; a SQLite file has no other.
    ///
    /// # Errors
    /// When the name is empty, over 63 bytes, reserved, or has a control character.
    pub fn schema(mut self, schema: impl Into<String>) -> Result<Self, Error> {
        self.0.schema = SchemaName::new(schema)?;
        Ok(self)
    }

    /// Connections of this process. Default: 10; at least 2.
    #[must_use]
    pub fn pool_size(mut self, connections: u32) -> Self {
        self.0.pool_size = connections;
        self
    }

    /// The URL leads to a transaction pooler such as pgbouncer: no named statements, no session settings, no LISTEN.
    #[must_use]
    pub fn transaction_pooler(mut self, yes: bool) -> Self {
        self.0.transaction_pooler = yes;
        self
    }

    /// How long one call may take before its connection is given up. Default: 30 s.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.0.call_timeout = limit;
        self
    }

    /// Connects, and checks the schema.
    ///
    /// # Errors
    /// When the database cannot be reached, or its schema is missing, older or newer.
    pub async fn connect(self) -> Result<Client, Error> {
        let client = self.open()?;
        client.check().await?;
        Ok(client)
    }

    /// Opens without a look at the database: for a program that migrates first. Within a tokio runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub fn open(self) -> Result<Client, Error> {
        Ok(Client::on(self.0.open()?))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Client").field(&self.describe()).finish()
    }
}
