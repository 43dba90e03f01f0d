use std::{fmt, sync::Arc};

use crate::model::{Failure, InstanceId, Invalid};

/// What went wrong: an operation, a cause, and predicates to act on.
///
/// The text never quotes step data, payloads or keys.
#[derive(Clone)]
pub struct Error(Arc<Kind>);

type Source = Box<dyn std::error::Error + Send + Sync>;

enum Kind {
    Invalid(Invalid),
    Store { operation: &'static str, class: StoreClass, source: Source },
    Schema(String),
    Boot(String),
    NotFound(String),
    WrongMachine(String),
    NoTarget,
    Duplicate(InstanceId),
    Work(Failure),
    Stopped,
}

/// How a store failed, as far as a caller must tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreClass {
    /// The connection, the server or a lock: the same call may succeed later.
    Transient,
    /// Another claim or start won a unique index: take again at once.
    Conflict,
    /// Everything else.
    Permanent,
}

impl Error {
    /// A store operation that failed.
    pub fn store(operation: &'static str, class: StoreClass, source: impl Into<Source>) -> Self {
        Self(Arc::new(Kind::Store { operation, class, source: source.into() }))
    }

    /// A schema this code cannot work on; the text says what to run.
    pub fn schema(text: impl Into<String>) -> Self {
        Self(Arc::new(Kind::Schema(text.into())))
    }

    /// Why a worker does not start; the text says what mends it.
    pub fn boot(text: impl Into<String>) -> Self {
        Self(Arc::new(Kind::Boot(text.into())))
    }

    /// There is no such instance.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self(Arc::new(Kind::NotFound(what.to_string())))
    }

    /// The instance is of another machine than the caller's type.
    pub fn wrong_machine(text: impl Into<String>) -> Self {
        Self(Arc::new(Kind::WrongMachine(text.into())))
    }

    /// The instance has ended or never was: a signal for it was refused.
    pub fn no_target() -> Self {
        Self(Arc::new(Kind::NoTarget))
    }

    /// The business key is occupied by this instance.
    pub fn duplicate(occupant: InstanceId) -> Self {
        Self(Arc::new(Kind::Duplicate(occupant)))
    }

    /// A closure within the transaction failed, as a step does.
    pub fn work(failure: Failure) -> Self {
        Self(Arc::new(Kind::Work(failure)))
    }

    /// How a closure within the transaction failed, if that is what happened.
    pub fn failure(&self) -> Option<&Failure> {
        match &*self.0 {
            Kind::Work(failure) => Some(failure),
            _ => None,
        }
    }

    /// Says which item of a batch is meant.
    #[must_use]
    pub fn at(self, position: usize) -> Self {
        match &*self.0 {
            Kind::Invalid(invalid) => Self::from(invalid.clone().at(position)),
            _ => self,
        }
    }

    /// The client was closed.
    pub fn stopped() -> Self {
        Self(Arc::new(Kind::Stopped))
    }

    /// Input that no store can hold; [`Error::field`] names it.
    pub fn is_invalid(&self) -> bool {
        matches!(*self.0, Kind::Invalid(_))
    }

    /// The field of invalid input.
    pub fn field(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Invalid(invalid) => Some(invalid.field()),
            Kind::Store { .. }
            | Kind::Schema(_)
            | Kind::Boot(_)
            | Kind::NotFound(_)
            | Kind::WrongMachine(_)
            | Kind::NoTarget
            | Kind::Duplicate(_)
            | Kind::Work(_)
            | Kind::Stopped => None,
        }
    }

    /// The same call may succeed later: a connection, a restart, a lock.
    pub fn is_transient(&self) -> bool {
        matches!(&*self.0, Kind::Store { class: StoreClass::Transient | StoreClass::Conflict, .. })
    }

    /// Another claim or start won; taking again at once is right.
    pub fn is_conflict(&self) -> bool {
        matches!(&*self.0, Kind::Store { class: StoreClass::Conflict, .. })
    }

    /// The database itself refused what it was given, and will again: nothing was changed.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn is_refused(&self) -> bool {
        let Kind::Store { class: StoreClass::Permanent, source, .. } = &*self.0 else { return false };
        source.downcast_ref::<sqlx::Error>().is_some_and(|error| error.as_database_error().is_some())
    }

    #[cfg(all(feature = "client", not(any(feature = "postgres", feature = "sqlite"))))]
    pub(crate) fn is_refused(&self) -> bool {
        false
    }

    /// The schema is missing, older or newer than this code can work on.
    pub fn is_schema(&self) -> bool {
        matches!(*self.0, Kind::Schema(_))
    }

    /// The worker does not start.
    pub fn is_boot(&self) -> bool {
        matches!(*self.0, Kind::Boot(_))
    }

    /// The signal was refused: its instance has ended or never was.
    pub fn is_no_target(&self) -> bool {
        matches!(*self.0, Kind::NoTarget)
    }

    /// The instance's business key was taken by another one meanwhile.
    pub fn is_duplicate(&self) -> bool {
        matches!(*self.0, Kind::Duplicate(_))
    }

    /// There is no such instance.
    pub fn is_not_found(&self) -> bool {
        matches!(*self.0, Kind::NotFound(_))
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self(Arc::new(Kind::Invalid(invalid)))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Invalid(invalid) => invalid.fmt(f),
            Kind::Store { operation, source, .. } => write!(f, "{operation} failed: {source}"),
            Kind::Schema(text) | Kind::Boot(text) | Kind::WrongMachine(text) => f.write_str(text),
            Kind::NotFound(what) => write!(f, "{what} does not exist"),
            Kind::NoTarget => f.write_str("the instance has ended or never was: the signal was refused"),
            Kind::Duplicate(occupant) => write!(f, "the business key is occupied by instance {occupant}"),
            Kind::Work(failure) => f.write_str(&failure.error),
            Kind::Stopped => f.write_str("the client was closed"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Kind::Store { source, .. } => Some(&**source),
            Kind::Invalid(_)
            | Kind::Schema(_)
            | Kind::Boot(_)
            | Kind::NotFound(_)
            | Kind::WrongMachine(_)
            | Kind::NoTarget
            | Kind::Duplicate(_)
            | Kind::Work(_)
            | Kind::Stopped => None,
        }
    }
}
