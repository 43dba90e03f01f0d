//! Which database a generated `main` works on.

use super::args::{Global, LogFormat};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// What a program may bring to find its database itself.
pub(super) type Find = Box<dyn Fn() -> Result<String, Fault>>;

/// What was said on the command line, else `DATABASE_URL`, else what the program finds, else a file.
pub(super) fn url(global: &Global, find: Option<&Find>) -> Result<String, Fault> {
    let named = match &global.database {
        Some(url) => Some(url.clone()),
        None => from_environment()?,
    };
    match (named, find) {
        (Some(url), _) => Ok(url),
        (None, Some(find)) => find(),
        (None, None) => default_file(global.log),
    }
}

/// One that cannot be read is an error: nobody meant the default.
fn from_environment() -> Result<Option<String>, Fault> {
    match std::env::var("DATABASE_URL") {
        Ok(url) => Ok(Some(url).filter(|url| !url.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err("DATABASE_URL is not UTF-8".into()),
    }
}

/// A warning, to `start` and `list` too: who forgot `DATABASE_URL` would else look for lost work.
#[cfg(feature = "sqlite")]
fn default_file(log: LogFormat) -> Result<String, Fault> {
    use std::io::Write;

    const URL: &str = "sqlite://gen-durable.db";
    match log {
        LogFormat::Text => {
            let line = format!("no DATABASE_URL: using {URL} in the current directory (--database URL names another)");
            // Nobody reads: no reason to stop.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        LogFormat::Json => tracing::warn!(database = URL, "no DATABASE_URL: using a file in the current directory"),
    }
    Ok(URL.into())
}

#[cfg(not(feature = "sqlite"))]
fn default_file(_: LogFormat) -> Result<String, Fault> {
    Err("no database: set DATABASE_URL or give --database, such as postgres://user@host/database; \
         with its feature `sqlite` this program would use a file"
        .into())
}
