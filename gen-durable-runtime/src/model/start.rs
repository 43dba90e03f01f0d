use std::time::Duration;

use super::{Entry, Exits, InstanceId, Invalid, Json, limits};

/// A new instance, ready to be inserted.
#[derive(Debug, Clone, PartialEq)]
pub struct StartSpec {
    /// Stored machine name.
    pub machine: &'static str,
    /// Machine version.
    pub version: i32,
    /// The step it begins at.
    pub entry: Entry,
    /// Facts all steps share.
    pub carry: Option<Json>,
    /// Its business identity, `machine:value`.
    pub key: Option<String>,
    /// The key stays occupied after the end.
    pub key_kept: bool,
    /// Begin this much later.
    pub delay: Duration,
    /// The machine's queue and priority.
    pub defaults: (&'static str, i16),
    /// How long it may take from when it is due, with `on_deadline`.
    pub deadline: Option<Duration>,
    /// What leaves its first step.
    pub exits: Exits,
    /// Given by the caller, instead of the machine's.
    pub queue: Option<String>,
    /// Given by the caller, instead of the machine's.
    pub priority: Option<i16>,
}

impl StartSpec {
    /// An instance without anything that is its own, in the queue `default`.
    pub fn plain(machine: &'static str, version: i32, entry: Entry) -> Self {
        Self {
            machine,
            version,
            entry,
            carry: None,
            key: None,
            key_kept: false,
            delay: Duration::ZERO,
            defaults: ("default", 0),
            deadline: None,
            exits: Exits::default(),
            queue: None,
            priority: None,
        }
    }

    /// Checks what only run time knows.
    ///
    /// # Errors
    /// Names the field and its limit.
    pub fn check(&self) -> Result<(), Invalid> {
        self.entry.check()?;
        limits::delay("delay", self.delay)?;
        self.key.as_deref().map_or(Ok(()), |k| limits::key("key", k))?;
        self.queue.as_deref().map_or(Ok(()), |q| limits::name("queue", q))
    }

    /// The size of its texts, about.
    pub(crate) fn bytes(&self) -> usize {
        self.entry.state.as_str().len() + self.carry.as_ref().map_or(0, |carry| carry.as_str().len()) + 200
    }

    /// The queue of the first row: the step's own, the caller's, the machine's.
    pub fn first_queue(&self) -> &str {
        self.entry.queue.or(self.queue.as_deref()).unwrap_or(self.defaults.0)
    }

    /// The priority of the first row.
    pub fn first_priority(&self) -> i16 {
        self.entry.priority.or(self.priority).unwrap_or(self.defaults.1)
    }
}

/// What became of one start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// A new instance.
    New(InstanceId),
    /// Its business key is occupied, by this instance.
    Duplicate(InstanceId),
}

impl Started {
    /// The instance that has the key now, new or not.
    pub fn id(self) -> InstanceId {
        match self {
            Self::New(id) | Self::Duplicate(id) => id,
        }
    }

    /// Whether this call made the instance.
    pub fn is_new(self) -> bool {
        match self {
            Self::New(_) => true,
            Self::Duplicate(_) => false,
        }
    }
}

/// Whom a signal is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// An instance.
    Id(InstanceId),
    /// The occupant of a business key, `machine:value`.
    Key(String),
}

impl Target {
    /// Checks what only run time knows.
    ///
    /// # Errors
    /// Names the field and its limit.
    pub fn check(&self) -> Result<(), Invalid> {
        match self {
            Self::Id(_) => Ok(()),
            Self::Key(key) => limits::key("key", key),
        }
    }
}

/// A signal, ready to be delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalSpec {
    /// Whom it is for.
    pub target: Target,
    /// Stored name.
    pub name: String,
    /// A JSON object.
    pub payload: Json,
    /// A second one with this key is not delivered, for the life of the instance.
    pub dedup: Option<String>,
}

impl SignalSpec {
    /// The size of its texts, about.
    pub(crate) fn bytes(&self) -> usize {
        self.payload.as_str().len() + 200
    }

    /// Checks what only run time knows.
    ///
    /// # Errors
    /// Names the field and its limit.
    pub fn check(&self) -> Result<(), Invalid> {
        limits::name("signal name", &self.name)?;
        self.target.check()?;
        if !self.payload.as_str().starts_with('{') {
            return Err(Invalid::new("payload", "is not a JSON object"));
        }
        self.dedup.as_deref().map_or(Ok(()), |k| limits::key("dedup key", k))
    }
}
