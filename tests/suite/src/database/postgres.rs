//! A database on a private server.

use std::{fs, time::Duration};

use gen_durable::InstanceId;
use gen_durable_runtime::store::Migration;
use local_postgres::{Database, Profile, Server};
use sqlx::{AssertSqlSafe, PgPool, Postgres, postgres::PgPoolOptions};

use super::{Db, Outside, store_options};
use crate::{Tx, eventually};

/// A database and a session pool of its own.
#[derive(Debug)]
pub(super) struct OnServer {
    pool: PgPool,
    database: Database,
}

impl Db {
    /// Cloned from a migrated template: about 0.1 s.
    pub async fn postgres() -> Self {
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
        let pool = PgPoolOptions::new().max_connections(5).acquire_timeout(Duration::from_secs(60));
        let pool = pool.connect(&url).await.expect("connects");
        let store = store_options(&url).open().expect("a store");
        Self { url, store, outside: Outside::Postgres(OnServer { pool, database }) }
    }

    /// The pool that looks from outside, for what only Postgres has.
    pub fn pool(&self) -> &PgPool {
        &self.on_server().pool
    }

    pub fn database(&self) -> &Database {
        &self.on_server().database
    }

    fn on_server(&self) -> &OnServer {
        match &self.outside {
            Outside::Postgres(it) => it,
            #[cfg(feature = "sqlite")]
            Outside::Sqlite(_) => panic!("this is not on Postgres"),
        }
    }
}

const LISTENERS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'LISTEN %' AND state = 'idle'";

const LEFT_BEHIND: &str = "SELECT (SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database())
    + (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'
       AND state_change < now() - interval '1 s')";

impl OnServer {
    pub(super) async fn create_effects(&self) {
        self.run(include_str!("effects/postgres.sql")).await;
    }

    pub(super) async fn scalar<T>(&self, sql: &str, ids: Option<&[InstanceId]>) -> T
    where
        T: for<'r> sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres> + Send + Unpin,
    {
        let mut query = sqlx::query_scalar(AssertSqlSafe(sql));
        if let Some(ids) = ids {
            query = query.bind(ids.iter().map(|id| id.get()).collect::<Vec<i64>>());
        }
        query.fetch_one(&self.pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub(super) async fn text(&self, sql: &str) -> String {
        self.scalar(sql, None).await
    }

    pub(super) async fn row(&self, id: InstanceId) -> String {
        let sql = "SELECT to_jsonb(g)::text || coalesce((SELECT json_agg(s ORDER BY s.id)::text FROM signals s
                   WHERE s.target_id = g.id), '') FROM gen_durable g WHERE g.id = ANY ($1)";
        self.scalar(sql, Some(&[id])).await
    }

    pub(super) async fn run(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    pub(super) async fn begin(&self) -> Tx {
        Tx::Postgres(self.pool.begin().await.expect("begins"))
    }

    pub(super) async fn heard(&self) {
        let one = async || self.scalar::<i64>(LISTENERS, None).await == 1;
        eventually("it listens", Duration::from_secs(20), one).await;
    }

    pub(super) async fn connections(&self) -> usize {
        let ours = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND application_name = 'gen-durable'";
        usize::try_from(self.scalar::<i64>(ours, None).await).expect("a count")
    }

    pub(super) async fn is_free(&self) -> bool {
        self.scalar::<i64>(LEFT_BEHIND, None).await == 0
    }

    /// What the server complained of in this database.
    pub(super) fn faults(&self, expected: &[&str]) -> Vec<String> {
        let log = fs::read(self.database.server().log_path()).expect("the server's log");
        let log = String::from_utf8_lossy(&log);
        let ours = format!("] {} ", self.database.name());
        let is_error = |line: &&str| {
            line.split_once(&ours).is_some_and(|(_, said)| {
                ["ERROR:", "FATAL:", "PANIC:"].iter().any(|level| said.starts_with(level))
                    && !expected.iter().any(|text| said.contains(text))
            })
        };
        log.lines().filter(is_error).map(str::to_owned).collect()
    }
}

/// Another checkout may have another schema, on the same server.
fn template() -> String {
    let hash = env!("CARGO_MANIFEST_DIR").bytes().fold(5_381_u32, |hash, b| hash.wrapping_mul(33) ^ u32::from(b));
    format!("suite_{hash:x}")
}

fn migrated() -> local_postgres::Result<Database> {
    let server = local_postgres::shared(Profile::Fast)?;
    if let Some(filling) = server.begin_template(&template())? {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let url = filling.url();
        runtime.block_on(async {
            let store = store_options(&url).open().expect("a store");
            store.migrate(&Migration::default()).await.expect("migrates");
            store.close().await.expect("closes");
        });
        filling.finish()?;
    }
    server.clone_template(&template())
}
