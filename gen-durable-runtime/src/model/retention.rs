//! How long what has ended stays, and where a sweep over it stands.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// How long ended instances stay. `None`: for good, until somebody deletes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those that are done.
    pub done: Option<Duration>,
    /// Those that have failed or were cancelled.
    pub failed: Option<Duration>,
}

impl Retention {
    /// The same, and what `otherwise` says where nothing is said.
    #[must_use]
    pub fn or(self, otherwise: Self) -> Self {
        Self { done: self.done.or(otherwise.done), failed: self.failed.or(otherwise.failed) }
    }
}

/// What one piece of a sweep over ended instances found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Purged {
    /// Rows that were looked at, whoever's they are.
    pub seen: usize,
    /// When the last of them ended.
    pub last: Option<Timestamp>,
    /// Those of them that were to go.
    pub due: usize,
    /// Those that are gone.
    pub gone: usize,
    /// What made way for others to go: lines of their history, and children that forgot their parent.
    pub cleared: usize,
}

/// Where a sweep stands in the order in which instances ended. What it has passed it does not look at again: rows that others
/// keep longer stand at the head of that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Rows that ended earlier are passed.
    pub from: Option<Timestamp>,
    /// Rows to look at.
    pub look: u32,
}

impl Cursor {
    /// At the beginning. A piece has so many rows.
    pub fn new(piece: u32) -> Self {
        Self { from: None, look: piece }
    }

    /// Goes on after a piece; `false` when nothing more has ended long enough ago.
    pub fn advance(&mut self, piece: u32, purged: &Purged) -> bool {
        let some_went = purged.gone + purged.cleared > 0;
        if some_went && (purged.due >= piece as usize || purged.gone < purged.due) {
            return true;
        }
        if purged.seen < self.look as usize {
            // Nobody ends in the past: the next look begins behind the last row.
            let behind = purged.last.and_then(|last| last.checked_add(SignedDuration::from_micros(1)).ok());
            *self = Self { from: behind.max(self.from), look: piece };
            return false;
        }
        if purged.last > self.from {
            *self = Self { from: purged.last, look: piece };
        } else {
            // More rows of one moment than a look has, as one statement writes them: only a longer look gets past them.
            self.look = self.look.saturating_mul(2);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(second).expect("a moment"))
    }

    fn seen(seen: usize, last: i64) -> Purged {
        Purged { seen, last: at(last), ..Purged::default() }
    }

    #[test]
    fn what_was_passed_is_not_looked_at_again() {
        let mut cursor = Cursor::new(10);
        assert!(cursor.advance(10, &seen(10, 5)));
        assert_eq!(cursor, Cursor { from: at(5), look: 10 });
        assert!(!cursor.advance(10, &seen(3, 7)));
        assert!(cursor.from > at(7) && cursor.from < at(8));
        let stands = cursor;
        assert!(!cursor.advance(10, &Purged::default()), "nobody ended since");
        assert_eq!(cursor, stands);
    }

    #[test]
    fn a_piece_that_let_some_go_is_looked_at_once_more_until_it_is_empty() {
        let mut cursor = Cursor::new(10);
        let full = Purged { due: 10, gone: 10, ..seen(10, 5) };
        assert!(cursor.advance(10, &full));
        let held_up = Purged { due: 4, gone: 0, cleared: 100, ..seen(9, 5) };
        assert!(cursor.advance(10, &held_up));
        assert_eq!(cursor, Cursor::new(10));
        let held_by_someone = Purged { due: 4, gone: 0, ..seen(10, 5) };
        assert!(cursor.advance(10, &held_by_someone), "they are left, and nobody behind them waits");
        assert_eq!(cursor.from, at(5));
    }

    #[test]
    fn a_crowd_of_one_moment_is_passed() {
        let mut cursor = Cursor::new(10);
        cursor.advance(10, &seen(10, 5));
        assert!(cursor.advance(10, &seen(10, 5)) && cursor.advance(10, &seen(20, 5)));
        assert_eq!(cursor, Cursor { from: at(5), look: 40 });
        assert!(cursor.advance(10, &seen(40, 6)));
        assert_eq!(cursor, Cursor { from: at(6), look: 10 });
    }
}
