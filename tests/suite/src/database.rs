use std::{sync::Arc, time::Duration};

use gen_durable::InstanceId;
use gen_durable_runtime::store::{DatabaseOptions, Migration, Store};
use local_postgres::{Database, Profile, Server};
use sqlx::PgPool;

/// A migrated database of its own, dropped with it, and a plain session pool to look at it from outside.
#[allow(missing_debug_implementations)] // a store has none
pub struct Db {
    pub url: String,
    pub pool: PgPool,
    pub store: Arc<dyn Store>,
    pub database: Database,
}

impl Db {
    /// Cloned from a migrated template: about 0.1 s.
    pub async fn new() -> Self {
        let database = tokio::task::spawn_blocking(migrated).await.expect("the template thread").expect("a database");
        Self::of(database).await
    }

    /// A database on a server that the test may stop.
    pub async fn on(server: &Server) -> Self {
        let server = server.clone();
        let create = move || server.create_database();
        let db = Self::of(tokio::task::spawn_blocking(create).await.expect("the thread").expect("a database")).await;
        db.store.migrate(&Migration::default()).await.expect("migrates");
        db
    }

    async fn of(database: Database) -> Self {
        let url = database.url();
        let pool = sqlx::postgres::PgPoolOptions::new().max_connections(5).acquire_timeout(Duration::from_secs(60));
        let pool = pool.connect(&url).await.expect("connects");
        let store = store_options(&url).open().expect("a store");
        Self { url, pool, store, database }
    }

    /// The same, with the table that the steps of the machines write to.
    pub async fn with_effects(self) -> Self {
        self.run(include_str!("effects.sql")).await;
        self
    }

    /// One number, by SQL.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect(sql)
    }

    /// One number, by SQL, of these instances: `$1`.
    pub async fn count_of(&self, sql: &'static str, ids: &[InstanceId]) -> i64 {
        let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
        sqlx::query_scalar(sql).bind(ids).fetch_one(&self.pool).await.expect(sql)
    }

    /// One text, by SQL.
    pub async fn text(&self, sql: &'static str) -> String {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect(sql)
    }

    /// The row of an instance and its inbox, as they stand.
    pub async fn row(&self, id: InstanceId) -> String {
        let sql = "SELECT to_jsonb(g)::text || coalesce((SELECT json_agg(s ORDER BY s.id)::text FROM signals s
                   WHERE s.target_id = g.id), '') FROM gen_durable g WHERE g.id = $1";
        sqlx::query_scalar(sql).bind(id.get()).fetch_one(&self.pool).await.expect("the row")
    }

    /// Runs a statement.
    pub async fn run(&self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(&self.pool).await.expect(sql);
    }
}

/// Small pools: hundreds of tests share one server.
pub fn store_options(url: &str) -> DatabaseOptions {
    DatabaseOptions { pool_size: 6, ..DatabaseOptions::new(url) }
}

fn migrated() -> local_postgres::Result<Database> {
    let server = local_postgres::shared(Profile::Fast)?;
    if let Some(filling) = server.begin_template("suite")? {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let url = filling.url();
        runtime.block_on(async {
            let store = store_options(&url).open().expect("a store");
            store.migrate(&Migration::default()).await.expect("migrates");
            store.close().await.expect("closes");
        });
        filling.finish()?;
    }
    server.clone_template("suite")
}
