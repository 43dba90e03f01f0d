//! A wall clock without a zone, for the search of a pattern: where its clocks are set forward or back is [`super::cron`]'s
//! affair.

use std::cmp::Ordering;

use croner::{CivilDate, CivilDateTime, CivilTime, CronDateTime, Resolution, Weekday, errors::CronError};
use jiff::{SignedDuration, civil::DateTime};

#[derive(Debug, Clone, Copy)]
pub(super) struct Wall(pub(super) DateTime);

impl CronDateTime for Wall {
    fn to_civil(&self) -> CivilDateTime {
        let part = |part: i8| u32::try_from(part).unwrap_or(0);
        CivilDateTime::new(
            CivilDate::from_parts_unchecked(self.0.year().into(), part(self.0.month()), part(self.0.day())),
            CivilTime::from_parts_unchecked(part(self.0.hour()), part(self.0.minute()), part(self.0.second())),
        )
    }

    fn civil_weekday(&self) -> Weekday {
        Weekday::from_days_from_sunday(u32::try_from(self.0.weekday().to_sunday_zero_offset()).unwrap_or(0))
    }

    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let year = i16::try_from(civil.year()).map_err(|_| CronError::InvalidDate)?;
        let part = |part: u32| i8::try_from(part).map_err(|_| CronError::InvalidDate);
        let (month, day) = (part(civil.month())?, part(civil.day())?);
        let (hour, minute, second) = (part(civil.hour())?, part(civil.minute())?, part(civil.second())?);
        let wall = DateTime::new(year, month, day, hour, minute, second, 0).map_err(|_| CronError::InvalidDate)?;
        Ok(Resolution::Single(Self(wall)))
    }

    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        self.0.checked_add(SignedDuration::from_secs(seconds)).ok().map(Self)
    }

    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
