//! A database that stands, with tables of the test's own, on either store.

use std::path::PathBuf;

use gen_durable::{Client, Handle, Migration, Startable, testing::TestKit};

/// Removed with what is in it.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct Place {
    pub client: Client,
    pool: Pool,
    _directory: Option<Directory>,
    #[cfg(feature = "postgres")]
    _server: Option<local_postgres::Database>,
}

enum Pool {
    #[cfg(feature = "postgres")]
    Postgres(sqlx::PgPool),
    Sqlite(sqlx::SqlitePool),
}

/// The test's transaction.
pub enum Tx {
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
}

/// The same on either.
macro_rules! on {
    ($of:ident, $it:expr, $at:ident => $do:expr) => {
        match $it {
            #[cfg(feature = "postgres")]
            $of::Postgres($at) => $do,
            $of::Sqlite($at) => $do,
        }
    };
}

impl Place {
    pub async fn sqlite() -> Self {
        let path = std::env::temp_dir().join(format!("kit-within-{:016x}", rand::random::<u64>()));
        std::fs::create_dir(&path).expect("a writable directory");
        let client = Client::options(format!("sqlite://{}/kit.db", path.display())).open().expect("a URL");
        client.migrate(Migration::default()).await.expect("migrates");
        let pool = Pool::Sqlite(sqlx::SqlitePool::connect(client.url()).await.expect("a file"));
        let directory = Some(Directory(path));
        let place = Self {
            client,
            pool,
            _directory: directory,
            #[cfg(feature = "postgres")]
            _server: None,
        };
        place.with_table().await
    }

    #[cfg(feature = "postgres")]
    pub async fn postgres() -> Self {
        let database =
            local_postgres::shared(local_postgres::Profile::Fast).and_then(|server| server.create_database());
        let database = database.expect("a server is installed");
        let client = Client::options(database.url()).pool_size(4).open().expect("a URL");
        client.migrate(Migration::default()).await.expect("migrates");
        let pool = Pool::Postgres(sqlx::PgPool::connect(client.url()).await.expect("a server"));
        Self { client, pool, _directory: None, _server: Some(database) }.with_table().await
    }

    async fn with_table(self) -> Self {
        let table = "CREATE TABLE entries (account bigint NOT NULL, amount bigint NOT NULL UNIQUE)";
        on!(Pool, &self.pool, pool => drop(sqlx::query(table).execute(pool).await.expect("a table")));
        self
    }

    /// As callers are told to begin.
    pub async fn begin(&self) -> Tx {
        match &self.pool {
            #[cfg(feature = "postgres")]
            Pool::Postgres(pool) => Tx::Postgres(pool.begin().await.expect("begins")),
            Pool::Sqlite(pool) => Tx::Sqlite(pool.begin_with("BEGIN IMMEDIATE").await.expect("begins")),
        }
    }

    /// What everybody sees.
    pub async fn count(&self, sql: &'static str) -> i64 {
        on!(Pool, &self.pool, pool => sqlx::query_scalar(sql).fetch_one(pool).await.expect(sql))
    }
}

impl Tx {
    pub async fn run(&mut self, sql: &'static str) {
        on!(Tx, self, tx => drop(sqlx::query(sql).execute(&mut **tx).await.expect(sql)));
    }

    pub async fn start<S: Startable>(&mut self, client: &Client, start: S) -> Handle<S::Machine> {
        on!(Tx, self, tx => client.in_transaction(tx).start(start).await.expect("starts"))
    }

    /// A kit in it, with these hands.
    pub async fn kit<E: Send + Sync + 'static>(self, client: &Client, hands: E) -> TestKit {
        // A row that was written often in one transaction is slow to find: no version of it can be cleaned up.
        on!(Tx, self, tx => TestKit::within(client, tx).await.handler(hands).step_cap(100).build())
    }
}

/// What the test sees.
pub async fn within(kit: &TestKit, sql: &'static str) -> i64 {
    let mut own = kit.connection().await;
    #[cfg(feature = "postgres")]
    if kit.client().store().dialect() == "postgres" {
        return sqlx::query_scalar(sql).fetch_one(own.postgres()).await.expect(sql);
    }
    sqlx::query_scalar(sql).fetch_one(own.sqlite()).await.expect(sql)
}
