//! From a URL to a file and its connections.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::error;
use crate::{
    Error,
    store::{DatabaseOptions, SchemaName},
};

/// How long SQLite itself waits for another process's lock before we ask again at a random moment: its own waits grow
/// to 100 ms, at which a busy file would starve us.
const BUSY: Duration = Duration::from_millis(10);
/// A reader waits only while another process recovers the file after a crash, or leaves it as the last one.
const BUSY_READER: Duration = Duration::from_secs(5);
/// Pages, 4 KiB each: a checkpoint costs two flushes, and is done within a commit.
const CHECKPOINT: &str = "4000";
/// KiB a connection.
const CACHE: &str = "-16000";

/// A database file.
#[derive(Debug)]
pub(super) struct File {
    url: String,
    connect: SqliteConnectOptions,
    /// `None`: it lives in the memory of one connection.
    path: Option<PathBuf>,
    /// A commit that was answered survives a power cut.
    full: bool,
    /// Which file of the disk it was when it was opened.
    opened: OnceLock<Id>,
    /// The same of its log, which SQLite makes anew when nobody has the file open.
    log: Arc<Log>,
}

/// Where it is, and which it was when it was opened.
type Log = Mutex<Option<(PathBuf, Id)>>;

/// Device and inode.
type Id = (u64, u64);

impl File {
    pub(super) fn of(options: &DatabaseOptions) -> Result<Self, Error> {
        if options.schema != SchemaName::default() {
            return Err(Error::boot(format!(
                "a SQLite file has no schemas, and the schema {} was asked for: use a file of its own",
                options.schema
            )));
        }
        if options.transaction_pooler {
            return Err(Error::boot("a SQLite file has no transaction pooler"));
        }
        let (url, full) = synchronous(&options.url)?;
        let unreadable = |e| Error::boot(format!("the database URL cannot be read: {e}; expected sqlite://file.db"));
        let connect = SqliteConnectOptions::from_str(&url).map_err(unreadable)?;
        let memory = url.contains(":memory:") || url.contains("mode=memory");
        let path = (!memory).then(|| connect.get_filename().to_path_buf());
        if path.as_deref().is_some_and(|p| p.as_os_str().is_empty()) {
            return Err(Error::boot("the database URL names no file; expected sqlite://file.db"));
        }
        Ok(Self { url, connect, path, full, opened: OnceLock::new(), log: Arc::default() })
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The URL without our own parameter, which no other pool knows.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// From now on it is this one, with this log.
    pub(super) fn remember(&self) {
        let Some(path) = self.path() else { return };
        if self.opened.get().is_none()
            && let Ok(id) = id(path)
        {
            // Another call was first.
            let _ = self.opened.set(id);
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.is_none() {
            *log = log_of(path).and_then(|path| id(&path).ok().map(|id| (path, id)));
        }
    }

    /// An open file that lost its name takes writes and keeps none: SQLite does not say so.
    pub(super) fn stands(&self, operation: &'static str) -> Result<(), Error> {
        match (self.opened.get(), self.path()) {
            (Some(opened), Some(path)) if is_gone(path, *opened) => Err(error::moved(operation, self)),
            _ => Ok(()),
        }
    }

    /// The same of its log, which holds all that was committed since the last checkpoint.
    pub(super) fn lost_its_log(&self) -> bool {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.as_ref().is_some_and(|(path, id)| is_gone(path, *id))
    }

    /// Why it cannot be opened.
    pub(super) fn obstacle(&self) -> String {
        let Some(path) = self.path() else { return "there is no memory".into() };
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        match (path.try_exists(), dir) {
            _ if path.is_dir() => "it is a directory".into(),
            (Ok(false), Some(dir)) if !dir.is_dir() => format!("make the directory {} first", dir.display()),
            (Ok(false), _) => "it is not there, or cannot be made by this user; run `migrate`".into(),
            (Ok(true) | Err(_), _) => "it, or what stands beside it, is out of reach of this user".into(),
        }
    }

    /// One name for all ways to write the path, so that all stores of a process on one file meet.
    pub(super) fn identity(&self) -> Option<PathBuf> {
        let path = self.path.as_deref()?;
        let whole = std::path::absolute(path).ok()?;
        let parent = whole.parent().and_then(|dir| dir.canonicalize().ok());
        Some(path.canonicalize().ok().or_else(|| Some(parent?.join(path.file_name()?))).unwrap_or(whole))
    }

    pub(super) fn writing(&self) -> SqliteConnectOptions {
        let synchronous = if self.full { SqliteSynchronous::Full } else { SqliteSynchronous::Normal };
        let options = self.connect.clone().foreign_keys(true).busy_timeout(BUSY).synchronous(synchronous);
        let options = options.pragma("cache_size", CACHE).pragma("temp_store", "memory").row_buffer_size(1_000);
        match self.path {
            Some(_) => options.journal_mode(SqliteJournalMode::Wal).pragma("wal_autocheckpoint", CHECKPOINT),
            None => options,
        }
    }

    /// The one connection that writes, for as long as the store lives. Before it was opened anew nobody may have had the
    /// file open: then the log is another one.
    pub(super) fn writer(&self, wait: Duration) -> SqlitePool {
        let log = Arc::clone(&self.log);
        let forget = move || *log.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let pool = pool(1, wait).after_connect(move |_, _| {
            forget();
            Box::pin(async { Ok(()) })
        });
        pool.connect_lazy_with(self.writing())
    }

    /// Connections that read beside it; `None` in memory, where only the writer sees anything.
    pub(super) fn readers(&self, size: u32, wait: Duration) -> Option<SqlitePool> {
        self.path.as_ref()?;
        let options = self.connect.clone().busy_timeout(BUSY_READER).pragma("query_only", "on");
        Some(pool(size.max(1), wait).connect_lazy_with(options.row_buffer_size(1_000)))
    }
}

/// Its name.
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) => path.display().fmt(f),
            None => f.write_str("in memory"),
        }
    }
}

/// Beside the file itself, whatever links lead there.
fn log_of(path: &Path) -> Option<PathBuf> {
    let mut log = path.canonicalize().ok()?.into_os_string();
    log.push("-wal");
    Some(log.into())
}

/// Out of our sight, as after a change of rights, it is not gone: the open file works on.
fn is_gone(path: &Path, then: Id) -> bool {
    match id(path) {
        Ok(now) => now != then,
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(unix)]
fn id(path: &Path) -> io::Result<Id> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere an open file keeps its name.
#[cfg(not(unix))]
fn id(_: &Path) -> io::Result<Id> {
    Err(io::ErrorKind::Unsupported.into())
}

fn pool(size: u32, wait: Duration) -> SqlitePoolOptions {
    // A connection is a thread and a page cache: it is kept.
    let options = SqlitePoolOptions::new().max_connections(size).acquire_timeout(wait).test_before_acquire(false);
    options.idle_timeout(None).max_lifetime(None)
}

/// Our own parameter of the URL: `synchronous=normal` gives the last commits up in a power cut, for twice the rate.
fn synchronous(url: &str) -> Result<(String, bool), Error> {
    let Some((base, parameters)) = url.split_once('?') else { return Ok((url.to_owned(), true)) };
    let (ours, others): (Vec<&str>, Vec<&str>) = parameters.split('&').partition(|p| p.starts_with("synchronous="));
    let full = match ours.as_slice() {
        [] | ["synchronous=full"] => true,
        ["synchronous=normal"] => false,
        other => return Err(Error::boot(format!("`{}` in the URL: full or normal", other.join("&")))),
    };
    let url = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
    Ok((url, full))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(url: &str) -> Result<File, Error> {
        File::of(&DatabaseOptions::new(url))
    }

    #[test]
    fn a_url_names_a_file_and_how_it_is_flushed() {
        for (url, path, full) in [
            ("sqlite://a.db", Some("a.db"), true),
            ("sqlite:///x/a.db?synchronous=normal", Some("/x/a.db"), false),
            ("sqlite:a%20b.db?synchronous=full&mode=rwc", Some("a b.db"), true),
            ("sqlite::memory:", None, true),
        ] {
            let file = file(url).expect(url);
            assert_eq!((file.path(), file.is_full()), (path.map(Path::new), full), "{url}");
            assert!(file.url().parse::<SqliteConnectOptions>().is_ok(), "a handler's own pool takes {}", file.url());
        }
    }

    #[test]
    fn what_one_file_cannot_do_is_refused() {
        let schema = SchemaName::new("other").expect("a name");
        let refused = File::of(&DatabaseOptions { schema, ..DatabaseOptions::new("sqlite://a.db") });
        assert!(refused.expect_err("no schemas").to_string().contains("no schemas"));
        let pooler = DatabaseOptions { transaction_pooler: true, ..DatabaseOptions::new("sqlite://a.db") };
        assert!(File::of(&pooler).is_err());
        for url in ["sqlite://a.db?synchronous=off", "sqlite://", "sqlite://a.db?nonsense=1"] {
            assert!(file(url).is_err(), "{url}");
        }
    }

    #[test]
    fn all_ways_to_write_a_path_are_one_file() {
        let identity = |url| file(url).expect(url).identity();
        assert_eq!(identity("sqlite://a.db"), identity("sqlite://./a.db"));
        assert_eq!(identity("sqlite://src/../a.db"), identity("sqlite://a.db"));
        assert_ne!(identity("sqlite://a.db"), identity("sqlite://b.db"));
    }
}
