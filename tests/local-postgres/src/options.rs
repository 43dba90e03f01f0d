use std::collections::BTreeMap;

use crate::binaries::Binaries;
use crate::{PrivateServer, Result, Server};

/// What the server is good for.
///
/// ```
/// use local_postgres::Profile;
/// assert_eq!(Profile::Durable.to_string(), "durable");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// For tests: nothing waits for the disk, 300 connections, `pg_stat_statements` loaded if it is installed.
    Fast,
    /// For the bench and the demo: every commit is on disk before it is acknowledged, and enough memory that
    /// caching and checkpoints do not blur the figures.
    Durable,
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Fast => "fast",
            Self::Durable => "durable",
        })
    }
}

/// A profile and further server settings. Servers with different settings are different servers.
///
/// ```
/// use local_postgres::{Options, Profile};
///
/// # fn main() -> Result<(), local_postgres::Error> {
/// let server = Options::new(Profile::Fast).set("log_statement", "all").shared()?;
/// let rows = server.query("postgres", "SHOW log_statement")?;
/// assert_eq!(rows[0][0].as_deref(), Some("all"));
/// assert!(std::fs::read_to_string(server.log_path()).unwrap().contains("SHOW log_statement"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    profile: Profile,
    settings: BTreeMap<String, String>,
}

impl Options {
    /// The settings of the profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile, settings: BTreeMap::new() }
    }

    /// Adds a server setting, as in `postgresql.conf`; it wins over the profile's.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// As [`crate::shared`], with these settings.
    ///
    /// # Errors
    ///
    /// As for [`crate::shared`].
    pub fn shared(&self) -> Result<Server> {
        Server::shared(self)
    }

    /// As [`crate::private`], with these settings.
    ///
    /// # Errors
    ///
    /// As for [`crate::shared`].
    pub fn private(&self) -> Result<PrivateServer> {
        PrivateServer::start_new(self)
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    /// `fast`, or with further settings `fast-1a2b3c4d`: short, as socket paths must be.
    pub(crate) fn server_name(&self) -> String {
        if self.settings.is_empty() {
            return self.profile.to_string();
        }
        let text: String = self.settings.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        format!("{}-{:08x}", self.profile, fnv1a(text.as_bytes()))
    }

    /// All settings but those about places.
    pub(crate) fn all_settings(&self, binaries: &Binaries) -> BTreeMap<String, String> {
        let profile: &[(&str, &str)] = match self.profile {
            Profile::Fast => FAST,
            Profile::Durable => DURABLE,
        };
        let fixed = COMMON.iter().chain(profile).map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let found = fitting(self.profile, binaries).map(|(name, value)| (name.to_owned(), value.to_owned()));
        fixed.chain(found).chain(self.settings.clone()).collect()
    }
}

const COMMON: &[(&str, &str)] = &[
    ("listen_addresses", ""),
    ("port", "5432"),
    ("log_destination", "stderr"),
    ("logging_collector", "off"),
    ("log_line_prefix", "%m [%p] %d "),
    ("log_min_messages", "warning"),
    // No checkpoint by time in the middle of a test or a measurement.
    ("checkpoint_timeout", "30min"),
];

// A commit still reaches the system before it is acknowledged, so that it outlives the kill of a server.
const FAST: &[(&str, &str)] = &[
    ("fsync", "off"),
    ("synchronous_commit", "on"),
    ("full_page_writes", "off"),
    ("max_connections", "300"),
    // With the data, so that a killed server leaves nothing elsewhere.
    ("dynamic_shared_memory_type", "mmap"),
    // The statements of dropped databases stay: at the default of 5,000 a long run evicts what a test counts.
    ("pg_stat_statements.max", "20000"),
];

const DURABLE: &[(&str, &str)] = &[
    ("fsync", "on"),
    ("synchronous_commit", "on"),
    ("full_page_writes", "on"),
    ("max_connections", "200"),
    // Nor by size.
    ("max_wal_size", "4GB"),
];

/// What depends on this machine.
fn fitting(profile: Profile, binaries: &Binaries) -> Option<(&'static str, &'static str)> {
    match profile {
        Profile::Fast => {
            binaries.has_library("pg_stat_statements").then_some(("shared_preload_libraries", "pg_stat_statements"))
        }
        Profile::Durable => (memory_bytes() >= 4 << 30).then_some(("shared_buffers", "1GB")),
    }
}

fn memory_bytes() -> u64 {
    // SAFETY: takes a number; a negative answer means unknown.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(size).unwrap_or(0))
}

fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_are_another_server() {
        let plain = Options::new(Profile::Fast);
        assert_eq!(plain.server_name(), "fast");
        let one = plain.clone().set("work_mem", "1MB").server_name();
        let two = plain.set("work_mem", "2MB").server_name();
        assert!(one.starts_with("fast-") && one != two);
    }
}
