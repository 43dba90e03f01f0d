use std::fmt;

use super::version::{SchemaVersion, Version};

/// What a migration did: nothing, when the schema was there already.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The steps, in the order in which they were committed.
    pub steps: Vec<Step>,
    /// What stands now.
    pub version: SchemaVersion,
}

/// One step of a migration; its text is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The schema was absent.
    SchemaCreated(String),
    /// The schema was made by a migrator and was empty.
    SchemaDropped(String),
    /// A version was put up.
    Up(Version),
    /// A version was put up, and all instances rewritten for it.
    Rewritten {
        /// The version.
        version: Version,
        /// Instances, up to the limit above which they are only estimated.
        rows: i64,
        /// Size of the table with its indexes before, in bytes.
        bytes: i64,
    },
    /// A version was taken down.
    Down(Version),
    /// An index was built while others went on writing.
    IndexBuilt(&'static str),
    /// An INVALID index, left behind by a build that failed, was dropped.
    IndexDropped(&'static str),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SchemaCreated(name) => write!(f, "created the schema {name}"),
            Self::SchemaDropped(name) => write!(f, "dropped the schema {name}"),
            Self::Up(version) => write!(f, "up to version {version}"),
            Self::Rewritten { version, rows, bytes } => {
                write!(f, "up to version {version}, rewriting {rows} instances ({})", Size(*bytes))
            }
            Self::Down(version) => write!(f, "down from version {version}"),
            Self::IndexBuilt(name) => write!(f, "built the index {name} concurrently"),
            Self::IndexDropped(name) => write!(f, "dropped the invalid index {name}"),
        }
    }
}

impl fmt::Display for Report {
    /// A line for each step, or the one line that there was nothing to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return writeln!(f, "nothing to do: the schema is at version {}", self.version);
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// Bytes, for a person.
pub(super) struct Size(pub(super) i64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GB", 30), ("MB", 20), ("kB", 10)];
        match units.iter().find(|(_, shift)| self.0 >> shift >= 10) {
            Some((unit, shift)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_one_line() {
        let steps = vec![
            Step::SchemaCreated("wf".into()),
            Step::Rewritten { version: Version::Seed(3), rows: 7, bytes: 64 << 20 },
            Step::Up(Version::Own(1)),
        ];
        let report = Report { steps, version: SchemaVersion::LATEST };
        let lines = "created the schema wf\nup to version 3, rewriting 7 instances (64 MB)\nup to version 3+1\n";
        assert_eq!(report.to_string(), lines);
    }

    #[test]
    fn a_migration_without_steps_says_so() {
        let report = Report { steps: Vec::new(), version: SchemaVersion::LATEST };
        assert_eq!(report.to_string(), "nothing to do: the schema is at version 3+3\n");
    }
}
