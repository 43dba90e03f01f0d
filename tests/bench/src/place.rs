use std::{sync::atomic::Ordering, time::Duration};

use gen_durable::{Client, Migration};
use local_postgres::{Database, Options, Profile, Server};
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::{Fault, machines::Nothing};

/// The private server, with durable settings.
pub struct Place {
    server: Server,
    counts: bool,
    profile: bool,
}

/// A migrated database of its own.
pub struct Bench {
    pub client: Client,
    pub pool: PgPool,
    pub url: String,
    /// The server's first process.
    pub server: Option<u32>,
    /// Statements are counted.
    pub counts: bool,
    /// And shown after each run.
    pub profile: bool,
    _database: Database,
}

impl Place {
    /// Statements are counted where the server has the extension for it.
    pub fn new(profile: bool) -> Result<Self, Fault> {
        let counting = Options::new(Profile::Durable).set("shared_preload_libraries", "pg_stat_statements").shared();
        let counts = counting.is_ok();
        let server = counting.or_else(|_| local_postgres::shared(Profile::Durable))?;
        Ok(Self { server, counts, profile: profile && counts })
    }

    pub fn major(&self) -> u32 {
        self.server.major()
    }

    pub async fn database(&self) -> Result<Bench, Fault> {
        let database = self.server.create_database()?;
        let url = database.url();
        let client = Client::options(&url).open()?;
        client.migrate(Migration::default()).await?;
        // The bare loops get the session settings that the engine's connections have.
        let options: sqlx::postgres::PgConnectOptions = url.parse()?;
        let options =
            options.options([("plan_cache_mode", "force_generic_plan"), ("jit", "off"), ("enable_seqscan", "off")]);
        let pool = PgPoolOptions::new().max_connections(20).test_before_acquire(false).connect_with(options).await?;
        if self.counts {
            sqlx::query(include_str!("sql/counting.sql")).execute(&pool).await?;
        }
        let (server, counts, profile) = (self.server.pid(), self.counts, self.profile);
        Ok(Bench { client, pool, url, server, counts, profile, _database: database })
    }
}

impl Bench {
    /// A client with so many connections.
    pub async fn client_of(&self, connections: u32) -> Result<Client, Fault> {
        Ok(Client::options(&self.url).pool_size(connections).connect().await?)
    }

    /// No-op instances, due now.
    pub async fn fill(&self, machine: &str, step: &str, rows: usize) -> Result<(), Fault> {
        self.fill_with(machine, step, rows, r#"{"left": 4}"#).await
    }

    /// The same with this state.
    pub async fn fill_with(&self, machine: &str, step: &str, rows: usize, state: &str) -> Result<(), Fault> {
        let fill = sqlx::query(include_str!("sql/fill.sql")).bind(machine).bind(step).bind(i64::try_from(rows)?);
        fill.bind(state).execute(&self.pool).await?;
        Ok(())
    }

    /// As a database that runs for long is.
    pub async fn vacuum(&self) -> Result<(), Fault> {
        sqlx::query(include_str!("sql/vacuum.sql")).execute(&self.pool).await?;
        Ok(())
    }

    /// How many have ended so far.
    pub async fn done(&self) -> Result<i64, Fault> {
        Ok(sqlx::query_scalar(include_str!("sql/all_done.sql")).fetch_one(&self.pool).await?)
    }

    /// The table with its indexes.
    pub async fn megabytes(&self) -> Result<i64, Fault> {
        Ok(sqlx::query_scalar(include_str!("sql/size.sql")).fetch_one(&self.pool).await?)
    }

    /// Waits until so many have ended, and are committed.
    pub async fn ended(&self, nothing: &Nothing, rows: usize) -> Result<(), Fault> {
        while nothing.ended.load(Ordering::Relaxed) < rows {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let rows = i64::try_from(rows)?;
        while sqlx::query_scalar::<_, i64>(include_str!("sql/ended.sql")).bind(rows).fetch_one(&self.pool).await? < rows
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }
}
