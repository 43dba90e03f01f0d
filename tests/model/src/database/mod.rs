//! The real databases, and the little that is done to them from outside of their stores.

#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

use std::sync::Arc;

use gen_durable_runtime::{
    model::InstanceId,
    store::{DatabaseOptions, Migration, Store},
};
use serde::Deserialize;

use crate::{Hidden, Letter, Line};

/// A database of its own, gone with this.
#[allow(missing_debug_implementations)] // a store has none
pub struct Database {
    pub store: Arc<dyn Store>,
    outside: Outside,
}

/// A connection past the store, and what keeps the database.
enum Outside {
    #[cfg(feature = "postgres")]
    Postgres(sqlx::PgPool, #[expect(dead_code, reason = "held")] local_postgres::Database),
    Sqlite(sqlx::SqlitePool, #[expect(dead_code, reason = "held")] sqlite::File),
}

/// What a store does not tell.
#[derive(Debug, Deserialize)]
pub struct World {
    pub instances: Vec<(InstanceId, Hidden)>,
    pub letters: Vec<Letter>,
    pub lines: Vec<Line>,
}

/// What is done from outside.
enum Deed {
    Pin(String),
    Shift(i64),
    Foreign(i64),
    Reset,
}

impl Database {
    /// One of each kind that is built in.
    pub async fn all() -> Vec<Self> {
        vec![
            #[cfg(feature = "postgres")]
            postgres::open().await,
            sqlite::open().await,
        ]
    }

    /// The dialect.
    pub fn name(&self) -> &'static str {
        self.store.dialect()
    }

    pub async fn world(&self) -> World {
        let text: String = match &self.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(pool, _) => {
                sqlx::query_scalar(include_str!("sql/world.postgres.sql")).fetch_one(pool).await.expect("the world")
            }
            Outside::Sqlite(pool, _) => {
                sqlx::query_scalar(include_str!("sql/world.sqlite.sql")).fetch_one(pool).await.expect("the world")
            }
        };
        serde_json::from_str(&text).expect("rows as expected")
    }

    /// Sets moments: objects of an id and its moments, as JSON.
    pub async fn pin(&self, moments: String) {
        self.run(Deed::Pin(moments)).await;
    }

    /// Moves everything so much nearer.
    pub async fn shift(&self, micros: i64) {
        self.run(Deed::Shift(micros)).await;
    }

    /// Makes its row one of another engine.
    pub async fn make_foreign(&self, id: InstanceId) {
        self.run(Deed::Foreign(id.get())).await;
    }

    pub async fn reset(&self) {
        self.run(Deed::Reset).await;
    }

    async fn run(&self, deed: Deed) {
        match &self.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(pool, _) => postgres::run(pool, deed).await,
            Outside::Sqlite(pool, _) => sqlite::run(pool, deed).await,
        }
    }
}

/// Migrated, and open.
async fn store(url: &str) -> Arc<dyn Store> {
    let store = DatabaseOptions { pool_size: 3, ..DatabaseOptions::new(url) }.open().expect("a store");
    store.migrate(&Migration::default()).await.expect("migrates");
    store
}
