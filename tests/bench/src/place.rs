use std::{sync::atomic::Ordering, time::Duration};

use gen_durable::{Client, Migration};
use local_postgres::{Database, Profile, Server};
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::machines::Nothing;

type Fault = Box<dyn std::error::Error>;

/// The private server, with durable settings.
pub struct Place {
    server: Server,
}

/// A migrated database of its own.
pub struct Bench {
    pub client: Client,
    pub pool: PgPool,
    pub url: String,
    _database: Database,
}

impl Place {
    pub fn new() -> Result<Self, Fault> {
        Ok(Self { server: local_postgres::shared(Profile::Durable)? })
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
        let pool = PgPoolOptions::new().max_connections(4).test_before_acquire(false).connect_with(options).await?;
        Ok(Bench { client, pool, url, _database: database })
    }
}

impl Bench {
    /// No-op instances, due now.
    pub async fn fill(&self, machine: &str, step: &str, rows: usize) -> Result<(), Fault> {
        let sql = include_str!("sql/fill.sql");
        let rows = i64::try_from(rows)?;
        sqlx::query(sql).bind(machine).bind(step).bind(rows).execute(&self.pool).await?;
        Ok(())
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
