use std::fmt;
use std::io;

/// What could not be done, and why.
///
/// ```
/// # fn main() -> Result<(), local_postgres::Error> {
/// let server = local_postgres::shared(local_postgres::Profile::Fast)?;
/// let error = server.query("postgres", "SELECT nothing").unwrap_err();
/// assert_eq!(error.sqlstate(), Some("42703"));
/// assert!(!error.is_missing());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Error {
    text: String,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Missing,
    Server { sqlstate: String },
    Io(io::Error),
    Other,
}

impl Error {
    pub(crate) fn missing(text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: Cause::Missing }
    }

    pub(crate) fn server(sqlstate: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: Cause::Server { sqlstate: sqlstate.into() } }
    }

    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: Cause::Other }
    }

    /// For `map_err`: the operation first, then the cause.
    pub(crate) fn io(operation: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self { text: format!("{operation}: {cause}"), cause: Cause::Io(cause) }
    }

    /// There are no server binaries on this machine; the text says what to install.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.cause, Cause::Missing)
    }

    /// The code of a refusal by the server, such as `42P04`.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        match &self.cause {
            Cause::Server { sqlstate } => Some(sqlstate),
            Cause::Missing | Cause::Io(_) | Cause::Other => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Io(cause) => Some(cause),
            Cause::Missing | Cause::Server { .. } | Cause::Other => None,
        }
    }
}
