//! What the tests of the migrations share: a database, its facts, and other people's deeds.

use std::error::Error;

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{MigrateTo, Plan, Report, migrate};
use local_postgres::{Database, Profile};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar};

/// The outcome of a test.
pub type Outcome = Result<(), Box<dyn Error>>;
/// The error of a helper.
pub type Fault = Box<dyn Error>;

/// Facts of each version: nothing, the seed's three, and ours on top.
pub const FACTS: [&str; 5] = [
    "",
    include_str!("../facts/v1.txt"),
    include_str!("../facts/v2.txt"),
    include_str!("../facts/v3.txt"),
    include_str!("../facts/latest.txt"),
];

/// The steps of the Elixir migrator, up to each version.
pub const ELIXIR: [&str; 3] =
    [include_str!("../sql/elixir_1.sql"), include_str!("../sql/elixir_2.sql"), include_str!("../sql/elixir_3.sql")];
/// The Elixir migrator's way down.
pub const ELIXIR_DOWN: &str = include_str!("../sql/elixir_down.sql");
/// Two instances and two signals, for any version.
pub const ROWS: &str = include_str!("../sql/rows.sql");

/// Where to go for the facts of this place in [`FACTS`].
pub fn plan(place: usize) -> Plan {
    match u32::try_from(place) {
        Ok(seed @ 0..=3) => Plan::new(MigrateTo::Seed(seed)),
        _ => Plan::latest(),
    }
}

/// A database of one test, and one connection to it.
#[derive(Debug)]
pub struct Db {
    pub conn: PgConnection,
    pub options: PgConnectOptions,
    // Dropped last: with it goes the database.
    pub database: Database,
}

impl Db {
    pub async fn new() -> Result<Self, Fault> {
        let database = local_postgres::shared(Profile::Fast)?.create_database()?;
        let options: PgConnectOptions = database.url().parse()?;
        Ok(Self { conn: options.connect().await?, options, database })
    }

    /// The same database as another role without any rights beyond its own.
    pub fn as_role(&self, role: &str) -> PgConnectOptions {
        self.options.clone().username(role)
    }

    pub async fn migrate(&self, schema: &SchemaName, plan: &Plan) -> Result<Report, Fault> {
        Ok(migrate(&self.options, schema, plan).await?)
    }

    /// Runs statements with the schema filled in.
    pub async fn run(&mut self, schema: &SchemaName, sql: &str) -> Outcome {
        sqlx::raw_sql(AssertSqlSafe(schema.fill(sql))).execute(&mut self.conn).await?;
        Ok(())
    }

    /// The facts of the schema, a line each.
    pub async fn facts(&mut self, schema: &SchemaName) -> Result<String, Fault> {
        Ok(self.lines(include_str!("../sql/catalog.sql"), schema).await?)
    }

    /// Everything that stands in the schema.
    pub async fn remains(&mut self, schema: &SchemaName) -> Result<String, Fault> {
        Ok(self.lines(include_str!("../sql/remains.sql"), schema).await?)
    }

    /// The storage parameters in the schema.
    pub async fn storage(&mut self, schema: &SchemaName) -> Result<String, Fault> {
        Ok(self.lines(include_str!("../sql/storage.sql"), schema).await?)
    }

    async fn lines(&mut self, sql: &'static str, schema: &SchemaName) -> Result<String, sqlx::Error> {
        let lines: Vec<String> = query_scalar(sql).bind(schema.as_str()).fetch_all(&mut self.conn).await?;
        Ok(lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// Instances and signals, by the columns that every version has.
    pub async fn digest(&mut self, schema: &SchemaName) -> Result<Vec<String>, Fault> {
        let sql = AssertSqlSafe(schema.fill(include_str!("../sql/digest.sql")));
        Ok(query_scalar(sql).fetch_all(&mut self.conn).await?)
    }

    /// Inserts ended instances.
    pub async fn fill(&mut self, schema: &SchemaName, count: i64) -> Outcome {
        let sql = AssertSqlSafe(schema.fill(include_str!("../sql/many.sql")));
        sqlx::query(sql).bind(count).execute(&mut self.conn).await?;
        Ok(())
    }

    /// One number.
    pub async fn number(&mut self, sql: &str) -> Result<i64, Fault> {
        Ok(query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut self.conn).await?)
    }

    pub async fn schema_exists(&mut self, schema: &SchemaName) -> Result<bool, Fault> {
        let sql = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
        Ok(query_scalar(sql).bind(schema.as_str()).fetch_one(&mut self.conn).await?)
    }

    /// Waits until nobody else is connected: a server notices the end of a client only after its statement.
    pub async fn alone(&mut self) -> Outcome {
        const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        for _ in 0..500 {
            if self.number(OTHERS).await? == 0 {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Err("somebody is still connected after 10 s".into())
    }

    /// Advisory locks held in this database.
    pub async fn advisory_locks(&mut self) -> Result<i64, Fault> {
        const LOCKS: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        self.number(LOCKS).await
    }
}

/// A name that has to be quoted.
pub fn odd() -> SchemaName {
    name(r#"My "own""#)
}

/// A schema name known to be good.
pub fn name(name: &str) -> SchemaName {
    SchemaName::new(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Fails with the first line that differs.
#[track_caller]
pub fn assert_facts(found: &str, place: usize) {
    let (found, wanted): (Vec<_>, Vec<_>) = (found.lines().collect(), FACTS[place].lines().collect());
    let extra: Vec<_> = found.iter().filter(|line| !wanted.contains(line)).collect();
    let missing: Vec<_> = wanted.iter().filter(|line| !found.contains(line)).collect();
    assert!(
        extra.is_empty() && missing.is_empty() && found.len() == wanted.len(),
        "extra {extra:#?} missing {missing:#?}"
    );
}
