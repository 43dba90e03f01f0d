use std::sync::Arc;

use gen_durable_runtime::store::{DatabaseOptions, Migration, Store};
use local_postgres::{Database, Profile};
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
        let url = database.url();
        let pool = sqlx::postgres::PgPoolOptions::new().max_connections(5).connect(&url).await.expect("connects");
        let store = store_options(&url).open().expect("a store");
        Self { url, pool, store, database }
    }

    /// One number, by SQL.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect(sql)
    }

    /// One text, by SQL.
    pub async fn text(&self, sql: &'static str) -> String {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect(sql)
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
