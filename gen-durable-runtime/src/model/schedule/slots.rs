use std::time::Duration;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use super::{Recurrence, cron::Cron};
use crate::model::{Invalid, limits};

/// The shortest interval.
const SHORTEST: Duration = Duration::from_millis(1);
/// How far back the latest slot is looked for, nearest first: few slots lie in the first of these that has any.
const BACK: [i64; 5] = [3_600, 86_400, 32 * 86_400, 366 * 86_400, 9 * 366 * 86_400];
const TICK: SignedDuration = SignedDuration::from_micros(1);

/// The slots of a recurrence.
#[derive(Debug, Clone)]
pub struct Slots(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// Microseconds.
    Every(i64),
    Cron(Box<Cron>),
}

impl Recurrence {
    /// Reads it.
    ///
    /// # Errors
    /// A span that is too short or too long, a pattern that is none or that never comes, a zone that this machine does not know.
    ///
    /// ```
    /// # use gen_durable_runtime::model::schedule::Recurrence;
    /// let nine = Recurrence::Cron { pattern: "0 9 * * *".into(), tz: Some("Europe/Berlin".into()) };
    /// let after = nine.read()?.after("2026-03-28T12:00:00Z".parse()?);
    /// assert_eq!(after, Some("2026-03-29T07:00:00Z".parse()?)); // in summer time since this morning
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self) -> Result<Slots, Invalid> {
        match self {
            Self::Every(span) => every(*span).map(Kind::Every).map(Slots),
            Self::Cron { pattern, tz } => Ok(Slots(Kind::Cron(Box::new(Cron::read(pattern, zone(tz.as_deref())?)?)))),
        }
    }
}

impl Slots {
    /// The first slot after this moment; `None` when there is none any more.
    pub fn after(&self, at: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            Kind::Every(span) => {
                let next = at.as_microsecond().div_euclid(*span).checked_add(1)?.checked_mul(*span)?;
                Timestamp::from_microsecond(next).ok()
            }
            Kind::Cron(cron) => cron.after(at),
        }
    }

    /// The latest slot from `from` to `to`, both included.
    pub fn latest(&self, from: Timestamp, to: Timestamp) -> Option<Timestamp> {
        let found = match &self.0 {
            Kind::Every(span) => Timestamp::from_microsecond(to.as_microsecond().div_euclid(*span) * span).ok(),
            Kind::Cron(cron) => latest(cron, from, to),
        };
        found.filter(|slot| *slot >= from)
    }
}

/// Looks forwards only, from ever further back.
fn latest(cron: &Cron, from: Timestamp, to: Timestamp) -> Option<Timestamp> {
    let starts = BACK.into_iter().map(|seconds| to.checked_sub(SignedDuration::from_secs(seconds)).unwrap_or(from));
    for start in starts.chain([from]).map(|start| start.max(from)) {
        let mut slots = std::iter::successors(start.checked_sub(TICK).ok(), |at| cron.after(*at)).skip(1);
        let mut found = None;
        while let Some(slot) = slots.next().filter(|slot| *slot <= to) {
            found = Some(slot);
        }
        if found.is_some() || start == from {
            return found;
        }
    }
    None
}

fn every(span: Duration) -> Result<i64, Invalid> {
    limits::delay("every", span)?;
    match i64::try_from(span.as_micros()) {
        Ok(micros) if span >= SHORTEST => Ok(micros),
        _ => Err(Invalid::new("every", "is shorter than 1 ms")),
    }
}

fn zone(tz: Option<&str>) -> Result<TimeZone, Invalid> {
    let Some(name) = tz else { return Ok(TimeZone::UTC) };
    TimeZone::get(name).map_err(|_| {
        let mend = match jiff::tz::db().is_definitively_empty() {
            true => "there is no time zone database here, install one (the package is often called tzdata)",
            false => "it is called like \"Europe/Berlin\"",
        };
        Invalid::new("tz", format!("names no time zone that this machine knows, {name:?}: {mend}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a moment")
    }

    #[test]
    fn an_interval_is_counted_from_the_epoch_so_that_a_restart_changes_nothing() {
        let slots = Recurrence::Every(Duration::from_secs(7)).read().expect("reads");
        for begun in ["2026-01-01T00:00:00Z", "2026-01-01T00:00:06.999Z"] {
            let slot = slots.after(at(begun)).expect("comes");
            assert_eq!(slot.as_second() % 7, 0);
            assert!(slot > at(begun) && slot.duration_since(at(begun)) <= SignedDuration::from_secs(7));
        }
        let slot = slots.after(at("2026-01-01T00:00:00Z")).expect("comes");
        assert_eq!(slots.latest(slot, slot), Some(slot));
        assert_eq!(slots.after(slot), slot.checked_add(SignedDuration::from_secs(7)).ok());
        assert_eq!(
            slots.latest(slot, at("2026-01-02T00:00:00Z")),
            slots.latest(at("2026-01-01T23:00:00Z"), at("2026-01-02T00:00:00Z"))
        );
    }

    #[test]
    fn what_cannot_be_a_schedule_is_refused_with_its_field() {
        let cron =
            |pattern: &str, tz: Option<&str>| Recurrence::Cron { pattern: pattern.into(), tz: tz.map(Into::into) };
        let field = |recurrence: Recurrence| recurrence.read().expect_err("refused").field().to_owned();
        assert_eq!(field(Recurrence::Every(Duration::ZERO)), "every");
        assert_eq!(field(Recurrence::Every(Duration::from_micros(999))), "every");
        assert_eq!(field(Recurrence::Every(Duration::MAX)), "every");
        assert_eq!(field(cron("0 9 * * *", Some("Europe/Berln"))), "tz");
        assert_eq!(field(cron("0 9 * *", None)), "cron");
        assert_eq!(field(cron("0 0 30 2 *", None)), "cron");
    }

    #[test]
    fn the_latest_slot_is_found_however_far_back_it_is() {
        let slots = |pattern: &str| Recurrence::Cron { pattern: pattern.into(), tz: None }.read().expect("reads");
        let (from, to) = (at("2000-01-01T00:00:00Z"), at("2026-05-01T12:00:30Z"));
        let cases = [
            ("* * * * *", "2026-05-01T12:00:00Z"),
            ("30 3 * * *", "2026-05-01T03:30:00Z"),
            ("0 0 1 1 *", "2026-01-01T00:00:00Z"),
            ("0 0 29 2 *", "2024-02-29T00:00:00Z"),
        ];
        for (pattern, latest) in cases {
            assert_eq!(slots(pattern).latest(from, to), Some(at(latest)), "{pattern}");
            assert_eq!(slots(pattern).latest(at(latest), at(latest)), Some(at(latest)), "{pattern}");
        }
        assert_eq!(slots("0 0 29 2 *").latest(at("2024-03-01T00:00:00Z"), to), None);
    }
}
