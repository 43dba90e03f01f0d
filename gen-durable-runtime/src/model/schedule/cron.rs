//! Cron patterns of five fields on the clocks of a zone.

use croner::parser::{CronParser, Seconds, Year};
use jiff::{
    SignedDuration, Timestamp,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

use super::wall::Wall;
use crate::model::Invalid;

const FORM: &str = "has five fields, minute, hour, day of month, month, day of week: \"0 3 * * *\"";
const NAMES: [&str; 19] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sun", "mon", "tue", "wed",
    "thu", "fri", "sat",
];
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// A pattern and its zone.
///
/// Where clocks are set forward, a time that does not exist is the moment after the gap; where they are set back, one that
/// exists twice is the first of the two. Several that fall on one moment are one slot. A pattern that fires in every
/// hour follows the time that passes instead: it neither pauses while an hour comes again nor hurries after a gap.
#[derive(Debug, Clone)]
pub(super) struct Cron {
    pattern: croner::Cron,
    zone: TimeZone,
    /// Fires in every hour.
    hourly: bool,
}

impl Cron {
    pub(super) fn read(pattern: &str, zone: TimeZone) -> Result<Self, Invalid> {
        is_plain(pattern)?;
        // `5/15`, from the 5th on, is one of the forms that the annotation knows.
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).sloppy_ranges(true);
        let pattern = parser.build().parse(pattern).map_err(|e| Invalid::new("cron", format!("is unreadable: {e}")))?;
        let hourly = pattern.pattern.hours.values().len() == 24;
        let cron = Self { pattern, zone, hourly };
        // A day that no month has. Every other one comes within eight years, a leap day included.
        match cron.after(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(cron),
            None => Err(Invalid::new("cron", "never comes: no month has such a day")),
        }
    }

    pub(super) fn after(&self, at: Timestamp) -> Option<Timestamp> {
        if self.hourly { self.as_time_passes(at) } else { self.as_clocks_show(at) }
    }

    /// Each time on the clock is one moment, and later times are no earlier moments.
    fn as_clocks_show(&self, at: Timestamp) -> Option<Timestamp> {
        let mut wall = self.zone.to_datetime(at);
        // Within an hour that comes again, times on the clock have had their moment.
        loop {
            wall = self.next(wall)?;
            let slot = self.moment(wall)?;
            if slot > at {
                return Some(slot);
            }
        }
    }

    fn moment(&self, wall: DateTime) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_timestamp(wall);
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => ambiguous.earlier().ok(),
            // Read by the clocks that come, it lies before they are set.
            AmbiguousOffset::Gap { after, .. } => self.change_after(after.to_timestamp(wall).ok()?),
        }
    }

    /// From one setting of the clocks to the next.
    fn as_time_passes(&self, at: Timestamp) -> Option<Timestamp> {
        let (mut since, mut wall) = (at, self.zone.to_datetime(at));
        loop {
            let slot = self.zone.to_offset(since).to_timestamp(self.next(wall)?).ok()?;
            match self.change_after(since).filter(|change| *change <= slot) {
                None => return Some(slot),
                // A slot at the very moment of the change is one.
                Some(change) => {
                    since = change;
                    wall = self.zone.to_datetime(change).checked_sub(SECOND).ok()?;
                }
            }
        }
    }

    fn change_after(&self, at: Timestamp) -> Option<Timestamp> {
        self.zone.following(at).next().map(|change| change.timestamp())
    }

    fn next(&self, wall: DateTime) -> Option<DateTime> {
        self.pattern.find_next_occurrence(&Wall(wall), false).ok().map(|wall| wall.0)
    }
}

/// What the annotation knows, and nothing that only the library does.
fn is_plain(pattern: &str) -> Result<(), Invalid> {
    let fields: Vec<&str> = pattern.split_whitespace().collect();
    if fields.len() != 5 {
        return Err(Invalid::new("cron", FORM));
    }
    match fields.iter().flat_map(|field| field.split(',')).all(item_is_plain) {
        true => Ok(()),
        false => Err(Invalid::new("cron", "has a field that is no number, name, `*`, `a-b`, `*/n` or list")),
    }
}

fn item_is_plain(item: &str) -> bool {
    let words = item.split(['-', '/']);
    let is_word = |word: &str| {
        let is_number = !word.is_empty() && word.len() <= 4 && word.chars().all(|c| c.is_ascii_digit());
        is_number || word == "*" || NAMES.contains(&word.to_lowercase().as_str())
    };
    words.into_iter().all(is_word)
}

#[cfg(test)]
mod tests;
