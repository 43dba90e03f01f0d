use std::fmt;

/// The newest version of the seed.
pub(super) const SEED_LATEST: u32 = 3;
/// The newest version of our part; also the version of this program in `oldest_code`.
pub(super) const OWN_LATEST: u32 = 3;

/// One version of one part of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// A version of the Elixir engine's schema, 1 to 3.
    Seed(u32),
    /// A version of what this engine adds, from 1.
    Own(u32),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seed(version) => write!(f, "{version}"),
            Self::Own(version) => write!(f, "{SEED_LATEST}+{version}"),
        }
    }
}

/// The versions of both parts, written `3+3`; a seed without our part is `3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaVersion {
    pub(super) seed: u32,
    pub(super) own: u32,
}

impl SchemaVersion {
    /// What this program needs and `migrate` makes by default.
    pub const LATEST: Self = Self { seed: SEED_LATEST, own: OWN_LATEST };

    /// The version of the Elixir engine's schema: 0 (no tables) to 3.
    pub fn seed(self) -> u32 {
        self.seed
    }

    /// The version of what this engine adds: 0 when there is nothing of it.
    pub fn own(self) -> u32 {
        self.own
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.own {
            0 => write!(f, "{}", self.seed),
            own => write!(f, "{}+{own}", self.seed),
        }
    }
}
