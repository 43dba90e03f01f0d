//! A directory of its own with a database file in it, and what stands there.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gen_durable::{Client, Error, InstanceId, Startable, Started};
use gen_durable_runtime::store::{Migration, Store};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use suite::{Db, WorkerOptions, eventually, store_options};

/// Within the directory of `effects`, which goes when it is dropped, or with the next test after one that was killed.
pub struct Place {
    dir: PathBuf,
    /// The steps write what they did elsewhere: what is wrong with the file does not befall them.
    effects: Db,
}

const DUE: &str = "SELECT count(*) FROM gen_durable WHERE status NOT IN ('done', 'failed')";

impl Place {
    /// Nothing is there yet.
    pub async fn empty() -> Self {
        let effects = Db::sqlite().await.with_effects().await;
        let dir = effects.path().with_file_name("place");
        fs::create_dir(&dir).expect("a directory");
        Self { dir, effects }
    }

    /// With a migrated file, which nobody has open.
    pub async fn migrated() -> Self {
        let place = Self::empty().await;
        place.migrate().await;
        place
    }

    pub async fn migrate(&self) {
        let store = self.store();
        store.migrate(&Migration::default()).await.expect("migrates");
        store.close().await.expect("closes");
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn file(&self) -> PathBuf {
        self.dir.join("gen-durable.db")
    }

    pub fn url(&self) -> String {
        format!("sqlite://{}", self.file().display())
    }

    pub fn store(&self) -> Arc<dyn Store> {
        store_options(&self.url()).open().expect("a store")
    }

    /// Opens with its first call.
    pub fn client(&self) -> Client {
        Client::options(self.url()).pool_size(3).open().expect("a client")
    }

    pub async fn start<S: Startable>(&self, starts: impl IntoIterator<Item = S>) -> Vec<InstanceId> {
        let client = self.client();
        let started = client.start_many(starts).await.expect("starts");
        client.close().await;
        started.into_iter().map(Started::id).collect()
    }

    /// What a program that begins here is told.
    pub async fn refused(&self) -> Error {
        self.store().migrate(&Migration::default()).await.expect_err("refused")
    }

    pub fn worker(&self) -> WorkerOptions {
        WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), &self.effects).url(&self.url())
    }

    /// A connection as any other program would have it.
    pub async fn look(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.file()).busy_timeout(Duration::from_secs(20));
        options.connect().await.expect("opens")
    }

    /// Statements of another program.
    pub async fn run(&self, sql: &str) {
        let mut other = self.look().await;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut other).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        other.close().await.expect("closes");
    }

    /// One number, by SQL.
    pub async fn count(&self, sql: &str) -> i64 {
        let mut other = self.look().await;
        let found = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut other).await;
        other.close().await.expect("closes");
        found.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// Real runs of steps.
    pub async fn effects(&self) -> i64 {
        self.effects.count("SELECT count(*) FROM effects").await
    }

    pub async fn effects_by(&self, sql: &str) -> i64 {
        self.effects.count(sql).await
    }

    /// Each of these ended well, after so many steps, and the file is sound.
    pub async fn all_done(&self, ids: &[InstanceId], steps: u32, within: Duration) {
        self.none_due(within).await;
        let done = format!("SELECT count(*) FROM gen_durable WHERE status = 'done' AND transitions = {steps}");
        assert_eq!(self.count(&done).await, i64::try_from(ids.len()).expect("small"), "each ended once");
        self.is_sound().await;
    }

    pub async fn none_due(&self, within: Duration) {
        eventually("nothing is due", within, async || self.count(DUE).await == 0).await;
    }

    pub async fn is_sound(&self) {
        let mut other = self.look().await;
        let check = sqlx::query_scalar::<_, String>("PRAGMA integrity_check").fetch_all(&mut other).await;
        assert_eq!(check.expect("checks"), ["ok"]);
        let orphans = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut other).await.expect("checks");
        assert_eq!(orphans.len(), 0, "rows without their parent");
        other.close().await.expect("closes");
    }
}

/// Says that the calling test cannot run here, and why.
pub fn skip(reason: &str) {
    #[cfg(feature = "postgres")]
    local_postgres::skip(reason);
    #[cfg(not(feature = "postgres"))]
    eprintln!("SKIPPED: {reason}");
}
