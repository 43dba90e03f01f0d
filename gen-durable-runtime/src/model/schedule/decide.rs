use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Slots;

/// A slot that nobody fired for so long was missed: workers were down, or the database was away.
pub const LATE: Duration = Duration::from_secs(2);

/// What a schedule whose slot has come does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The slot that gets an instance.
    pub fire: Option<Timestamp>,
    /// The latest slot that gets none.
    pub missed: Option<Timestamp>,
    /// The slot after that.
    pub next: Option<Timestamp>,
}

/// Of all slots from `due` to `now` the latest gets an instance; with `skip_missed` not even that, when it is [`LATE`].
///
/// `due` is a slot of this recurrence, or of the one that the schedule had before.
pub fn decide(slots: &Slots, skip_missed: bool, due: Timestamp, now: Timestamp) -> Decision {
    let latest = slots.latest(due, now).unwrap_or(due);
    let next = slots.after(now);
    if skip_missed && now.duration_since(latest).unsigned_abs() > LATE {
        return Decision { fire: None, missed: Some(latest), next };
    }
    let before = latest.checked_sub(SignedDuration::from_micros(1)).ok().filter(|_| latest > due);
    let missed = before.map(|before| slots.latest(due, before).unwrap_or(due));
    Decision { fire: Some(latest), missed, next }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schedule::Recurrence;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("a moment")
    }

    fn ten() -> Slots {
        Recurrence::Every(Duration::from_secs(10)).read().expect("reads")
    }

    #[test]
    fn of_several_missed_slots_the_latest_is_caught_up_and_the_one_before_it_is_told() {
        let expected = |fire, missed, next| Decision { fire, missed, next };
        assert_eq!(decide(&ten(), false, at(100), at(100)), expected(Some(at(100)), None, Some(at(110))));
        assert_eq!(decide(&ten(), false, at(100), at(109)), expected(Some(at(100)), None, Some(at(110))));
        assert_eq!(decide(&ten(), false, at(100), at(113)), expected(Some(at(110)), Some(at(100)), Some(at(120))));
        assert_eq!(
            decide(&ten(), false, at(100), at(1_000_005)),
            expected(Some(at(1_000_000)), Some(at(999_990)), Some(at(1_000_010)))
        );
    }

    #[test]
    fn a_skipping_schedule_passes_over_what_was_missed_and_fires_what_is_only_a_little_late() {
        let expected = |fire, missed, next| Decision { fire, missed, next };
        assert_eq!(decide(&ten(), true, at(100), at(101)), expected(Some(at(100)), None, Some(at(110))));
        assert_eq!(decide(&ten(), true, at(100), at(103)), expected(None, Some(at(100)), Some(at(110))));
        assert_eq!(decide(&ten(), true, at(100), at(121)), expected(Some(at(120)), Some(at(110)), Some(at(130))));
    }

    #[test]
    fn a_slot_of_the_recurrence_before_is_caught_up_once() {
        assert_eq!(decide(&ten(), false, at(103), at(108)).fire, Some(at(103)));
        let both = decide(&ten(), false, at(103), at(112));
        assert_eq!((both.fire, both.missed, both.next), (Some(at(110)), Some(at(103)), Some(at(120))));
    }
}
