//! A file in a directory of its own, in memory where the system has such a place.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use gen_durable::InstanceId;
use gen_durable_runtime::store::Migration;
use sqlx::{
    AssertSqlSafe, Executor, Row, Sqlite, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};

use super::{Db, Outside, store_options};
use crate::Tx;

/// A file and a pool of its own. The directory goes with it.
#[derive(Debug)]
pub(super) struct OnFile {
    pool: SqlitePool,
    dir: PathBuf,
}

const NAME: &str = "gen-durable.db";

impl Db {
    /// Migrated anew: some milliseconds.
    pub async fn sqlite() -> Self {
        let dir = directory();
        let path = dir.join(NAME);
        let url = format!("sqlite://{}", path.display());
        let store = store_options(&url).open().expect("a store");
        store.migrate(&Migration::default()).await.expect("migrates");
        let outside = Outside::Sqlite(OnFile { pool: looking(&dir).await, dir });
        Self { url, store, outside }
    }

    /// The pool that looks from outside, for what only SQLite has.
    pub fn file_pool(&self) -> &SqlitePool {
        &self.on_file().pool
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.on_file().dir.join(NAME)
    }

    fn on_file(&self) -> &OnFile {
        match &self.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(_) => panic!("this is not on SQLite"),
            Outside::Sqlite(it) => it,
        }
    }
}

/// Options as any other program would have them.
pub(crate) fn connecting(path: &Path) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    options.journal_mode(SqliteJournalMode::Wal).busy_timeout(Duration::from_secs(20))
}

/// What the steps did stands in a file of its own: their writes must not stand in line with the engine's.
async fn looking(dir: &Path) -> SqlitePool {
    let attach = format!("ATTACH '{}' AS beside", dir.join("effects.db").display());
    let pool = SqlitePoolOptions::new().max_connections(5).acquire_timeout(Duration::from_secs(60));
    let pool = pool.after_connect(move |connection, _| {
        let attach = attach.clone();
        Box::pin(async move { connection.execute(AssertSqlSafe(attach)).await.map(drop) })
    });
    pool.connect_with(connecting(&dir.join(NAME))).await.expect("opens")
}

impl OnFile {
    pub(super) fn effects_url(&self) -> String {
        format!("sqlite://{}", self.dir.join("effects.db").display())
    }

    pub(super) async fn create_effects(&self) {
        let own = SqlitePoolOptions::new().connect_with(connecting(&self.dir.join("effects.db"))).await;
        let own = own.expect("opens");
        own.execute(include_str!("effects/sqlite.sql")).await.expect("a table");
        own.close().await;
    }

    pub(super) async fn scalar<T>(&self, sql: &str, ids: Option<&[InstanceId]>) -> T
    where
        T: for<'r> sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite> + Send + Unpin,
    {
        let mut query = sqlx::query_scalar(AssertSqlSafe(sql));
        if let Some(ids) = ids {
            let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
            query = query.bind(serde_json::to_string(&ids).expect("numbers"));
        }
        query.fetch_one(&self.pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// Numbers become text as well: `::text` is not translated.
    pub(super) async fn text(&self, sql: &str) -> String {
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&self.pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        row.try_get_unchecked(0).unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub(super) async fn row(&self, id: InstanceId) -> String {
        let columns = "SELECT group_concat('quote(' || name || ')', ' || '','' || ') FROM pragma_table_xinfo('";
        let of = async |table: &str| self.text(&format!("{columns}{table}')")).await;
        let (row, inbox) = (of("gen_durable").await, of("signals").await);
        self.text(&format!(
            "SELECT {row} || coalesce((SELECT group_concat({inbox}, ';' ORDER BY id) FROM signals
             WHERE target_id = {id}), '') FROM gen_durable WHERE id = {id}"
        ))
        .await
    }

    pub(super) async fn run(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    pub(super) async fn begin(&self) -> Tx {
        Tx::Sqlite(self.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins"))
    }

    /// There is nothing to wait for: a worker looks at the file from its start.
    #[allow(clippy::unused_async)]
    pub(super) async fn heard(&self) {}

    /// Where the system lists what is open; our own look at it is left out.
    #[allow(clippy::unused_async)]
    pub(super) async fn connections(&self) -> usize {
        let Ok(open) = fs::read_dir("/proc/self/fd") else { return 0 };
        let file = self.dir.join(NAME);
        let ours = usize::try_from(self.pool.size()).expect("small");
        open.flatten().filter(|fd| fs::read_link(fd.path()).is_ok_and(|path| path == file)).count() - ours
    }

    /// Nobody has the file.
    pub(super) async fn is_free(&self) -> bool {
        let mut connection = self.pool.acquire().await.expect("a connection");
        connection.execute("PRAGMA busy_timeout = 0").await.expect("sets");
        let is_free = connection.execute("BEGIN IMMEDIATE; ROLLBACK").await.is_ok();
        connection.execute("PRAGMA busy_timeout = 20000").await.expect("sets");
        is_free
    }

    /// What is wrong with the file.
    pub(super) async fn faults(&self, _: &[&str]) -> Vec<String> {
        let check = sqlx::query_scalar::<_, String>("PRAGMA integrity_check").fetch_all(&self.pool).await;
        let orphans = sqlx::query("PRAGMA foreign_key_check").fetch_all(&self.pool).await.expect("checks").len();
        let mut faults = check.expect("checks");
        faults.retain(|line| line != "ok");
        faults.extend((orphans > 0).then(|| format!("{orphans} rows without their parent")));
        faults
    }
}

impl Drop for OnFile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

const PREFIX: &str = "gen-durable-suite-";

/// A new directory. Those of tests that were killed go.
fn directory() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    for old in fs::read_dir(&place).expect("a directory").flatten() {
        let name = old.file_name().into_string().unwrap_or_default();
        let pid = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok());
        if pid.is_some_and(is_gone) {
            let _ = fs::remove_dir_all(old.path());
        }
    }
    let dir = place.join(format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir(&dir).expect("a directory");
    dir
}

fn is_gone(pid: i32) -> bool {
    // SAFETY: signal 0 asks whether the process is there.
    let answer = unsafe { libc::kill(pid, 0) };
    answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}
