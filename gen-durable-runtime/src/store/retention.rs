//! What goes by its age: ended instances, and dedup keys of instances that never end.

use std::time::Duration;

use jiff::Timestamp;

use crate::model::Status;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::{Error, model::Purged};

/// Signals that go in one piece with their instances. One that has more goes alone, as a whole.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
const INBOX: i64 = 10_000;
/// Lines of history, or children, that make way in one piece.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) const CLEARED: i64 = 10_000;

/// Which ended instances may go.
#[derive(Debug)]
pub struct Purge<'a> {
    /// Only those that ended at least so long ago.
    pub age: Duration,
    /// Of these machines, with these endings.
    pub ended: &'a [Ended],
    /// Only those that ended at this moment or later.
    pub from: Option<Timestamp>,
    /// Rows to look at, in the order in which they ended.
    pub look: u32,
    /// At most so many go.
    pub limit: u32,
}

/// Ended instances of one machine and version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Stored machine name.
    pub machine: String,
    /// Version.
    pub version: i32,
    /// `done` or `failed`.
    pub status: Status,
}

/// Which dedup keys may go: of signals that were consumed so long ago, by live instances of these machines.
#[derive(Debug)]
pub struct KeyExpiry<'a> {
    /// How long a key protects once its signal was consumed.
    pub age: Duration,
    /// Stored machine names and versions.
    pub machines: &'a [(String, i32)],
    /// Only signals that came after this one.
    pub after: i64,
    /// Signals to look at, in the order in which they came.
    pub limit: u32,
}

/// The dedup keys that went.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ExpiredKeys {
    /// How many.
    pub gone: usize,
    /// The last signal that was looked at and is old enough to have been consumed so long ago.
    pub last: i64,
    /// Whether there may be more behind it.
    pub more: bool,
}

/// What went in one transaction.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[derive(Debug, Default)]
pub(super) struct Went {
    pub(super) gone: usize,
    pub(super) cleared: usize,
}

/// A piece that the database refuses, for a foreign key of the user's own, is split in halves until who cannot go stands alone,
/// and stays: nobody else stays for it.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) struct Halves(Vec<Vec<i64>>);

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Halves {
    /// So many at once, the first ones first.
    pub(super) fn of(due: &[i64], at_once: usize) -> Self {
        Self(due.chunks(at_once).rev().map(<[i64]>::to_vec).collect())
    }

    pub(super) fn take(&mut self) -> Option<Vec<i64>> {
        self.0.pop().filter(|ids| !ids.is_empty())
    }

    pub(super) fn settle(
        &mut self,
        ids: Vec<i64>,
        went: Result<Went, Error>,
        purged: &mut Purged,
    ) -> Result<(), Error> {
        match went {
            Ok(went) => {
                purged.gone += went.gone;
                purged.cleared += went.cleared;
            }
            Err(error) if error.is_transient() => return Err(error),
            Err(error) if ids.len() == 1 => tracing::debug!(%error, instance = ids[0], "it has ended, and cannot go"),
            Err(_) => self.0.extend(ids.chunks(ids.len().div_ceil(2)).map(<[i64]>::to_vec)),
        }
        Ok(())
    }
}

/// The first of these instances, each with the number of its signals, whose inboxes go in one piece.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn within_a_piece(held: impl Iterator<Item = (i64, i64)>) -> Vec<i64> {
    let mut signals = 0_i64;
    let fits = |&(nth, (_, inbox)): &(usize, (i64, i64))| {
        signals = signals.saturating_add(inbox);
        nth == 0 || signals <= INBOX
    };
    held.enumerate().take_while(fits).map(|(_, (id, _))| id).collect()
}

#[cfg(all(test, any(feature = "postgres", feature = "sqlite")))]
mod tests {
    use super::*;

    #[test]
    fn a_large_inbox_goes_alone() {
        let within = |held: &[(i64, i64)]| within_a_piece(held.iter().copied());
        assert_eq!(within(&[(1, 0), (2, 9_999), (3, 1), (4, 1), (5, 0)]), [1, 2, 3]);
        assert_eq!(within(&[(1, INBOX + 1), (2, 0)]), [1]);
        assert_eq!(within(&[]), [] as [i64; 0]);
    }
}
