//! The released steps. Their text never changes any more: a database out there was made by it.

use super::version::{SchemaVersion, Version};

/// Stands between two statements of a script, on a line of its own.
const SEPARATOR: &str = "\n-- ;;\n";

/// How one version comes and goes.
pub(super) struct Script {
    pub(super) version: Version,
    up: &'static str,
    down: &'static str,
}

/// An index of ours on a table that may be large when it comes.
pub(super) struct Index {
    /// The version of our part it belongs to.
    pub(super) own: u32,
    pub(super) name: &'static str,
    pub(super) table: &'static str,
    pub(super) create: &'static str,
    pub(super) create_concurrently: &'static str,
    pub(super) drop_concurrently: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// All versions, from the bottom to the top.
const SCRIPTS: [Script; 6] = [
    Script {
        version: Version::Seed(1),
        up: include_str!("versions/seed_1/up.sql"),
        down: include_str!("versions/seed_1/down.sql"),
    },
    Script {
        version: Version::Seed(2),
        up: include_str!("versions/seed_2/up.sql"),
        down: include_str!("versions/seed_2/down.sql"),
    },
    Script {
        version: Version::Seed(3),
        up: include_str!("versions/seed_3/up.sql"),
        down: include_str!("versions/seed_3/down.sql"),
    },
    Script {
        version: Version::Own(1),
        up: include_str!("versions/own_1/up.sql"),
        down: include_str!("versions/own_1/down.sql"),
    },
    Script {
        version: Version::Own(2),
        up: include_str!("versions/own_2/up.sql"),
        down: include_str!("versions/own_2/down.sql"),
    },
    Script {
        version: Version::Own(3),
        up: include_str!("versions/own_3/up.sql"),
        down: include_str!("versions/own_3/down.sql"),
    },
];

pub(super) const INDEXES: [Index; 4] = [
    Index {
        own: 1,
        name: "signals_inbox",
        table: "signals",
        create: include_str!("versions/own_1/signals_inbox.sql"),
        create_concurrently: include_str!("versions/own_1/signals_inbox_concurrently.sql"),
        drop_concurrently: include_str!("versions/own_1/signals_inbox_drop.sql"),
    },
    Index {
        own: 2,
        name: "gen_durable_join_deadline",
        table: "gen_durable",
        create: include_str!("versions/own_2/join_deadline.sql"),
        create_concurrently: include_str!("versions/own_2/join_deadline_concurrently.sql"),
        drop_concurrently: include_str!("versions/own_2/join_deadline_drop.sql"),
    },
    Index {
        own: 3,
        name: "gen_durable_deadline",
        table: "gen_durable",
        create: include_str!("versions/own_3/deadline.sql"),
        create_concurrently: include_str!("versions/own_3/deadline_concurrently.sql"),
        drop_concurrently: include_str!("versions/own_3/deadline_drop.sql"),
    },
    Index {
        own: 3,
        name: "gen_durable_blocked",
        table: "gen_durable",
        create: include_str!("versions/own_3/blocked.sql"),
        create_concurrently: include_str!("versions/own_3/blocked_concurrently.sql"),
        drop_concurrently: include_str!("versions/own_3/blocked_drop.sql"),
    },
];

impl Script {
    /// The statements of one direction.
    pub(super) fn statements(&self, direction: Direction) -> impl Iterator<Item = &'static str> {
        match direction {
            Direction::Up => self.up.split(SEPARATOR),
            Direction::Down => self.down.split(SEPARATOR),
        }
    }
}

/// The way from one state to another: what goes, from the top, then what comes, from the bottom.
pub(super) fn way(from: SchemaVersion, to: SchemaVersion) -> Vec<(&'static Script, Direction)> {
    let stands = |at: SchemaVersion, script: &Script| match script.version {
        Version::Seed(version) => version <= at.seed,
        Version::Own(version) => version <= at.own,
    };
    let down = SCRIPTS.iter().rev().filter(|s| stands(from, s) && !stands(to, s)).map(|s| (s, Direction::Down));
    let up = SCRIPTS.iter().filter(|s| !stands(from, s) && stands(to, s)).map(|s| (s, Direction::Up));
    down.chain(up).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(from: (u32, u32), to: (u32, u32)) -> Vec<String> {
        let at = |(seed, own)| SchemaVersion { seed, own };
        let sign = |direction| if direction == Direction::Up { '+' } else { '-' };
        way(at(from), at(to)).iter().map(|(s, d)| format!("{}{}", sign(*d), s.version)).collect()
    }

    #[test]
    fn our_part_comes_last_and_goes_first() {
        assert_eq!(names((0, 0), (3, 2)), ["+1", "+2", "+3", "+3+1", "+3+2"]);
        assert_eq!(names((3, 2), (0, 0)), ["-3+2", "-3+1", "-3", "-2", "-1"]);
        assert_eq!(names((3, 1), (3, 0)), ["-3+1"]);
        assert_eq!(names((2, 0), (1, 0)), ["-2"]);
        assert!(names((3, 1), (3, 1)).is_empty());
    }

    #[test]
    fn every_statement_names_the_schema() {
        for script in &SCRIPTS {
            for direction in [Direction::Up, Direction::Down] {
                assert!(script.statements(direction).all(|s| s.contains("{schema}")), "{}", script.version);
            }
        }
    }
}
