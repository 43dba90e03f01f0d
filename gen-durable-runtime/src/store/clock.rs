use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::store::written::micros;

/// Where a store takes its time from.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The machine's: all processes of a file run on one machine.
    #[default]
    Machine,
    /// One that stands still until somebody moves it: for tests.
    Standing(Arc<AtomicI64>),
}

impl Clock {
    /// Stands still at this moment.
    pub fn standing_now() -> Self {
        Self::standing_at(Self::Machine.now())
    }

    /// Stands still at so many microseconds since 1970.
    pub fn standing_at(micros: i64) -> Self {
        Self::Standing(Arc::new(AtomicI64::new(micros)))
    }

    /// Microseconds since 1970.
    pub fn now(&self) -> i64 {
        match self {
            Self::Machine => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
            }
            Self::Standing(at) => at.load(Ordering::Acquire),
        }
    }

    /// Moves a standing clock forward; the machine's goes by itself.
    pub fn advance(&self, by: Duration) {
        match self {
            Self::Machine => {}
            Self::Standing(at) => {
                let _ =
                    at.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| Some(now.saturating_add(micros(by))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_clock_moves_only_when_it_is_told_to() {
        let clock = Clock::standing_now();
        let (other, began) = (clock.clone(), clock.now());
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(clock.now(), began);
        other.advance(Duration::from_millis(5));
        assert_eq!(clock.now(), began + 5_000);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), i64::MAX, "there is no time after it");
    }
}
