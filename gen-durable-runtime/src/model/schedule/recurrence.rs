use std::{fmt, time::Duration};

use jiff::SignedDuration;

/// When a schedule fires, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recurrence {
    /// At the multiples of this span since 1970-01-01T00:00Z, to the microsecond.
    Every(Duration),
    /// By a pattern of five fields: minute, hour, day of month, month, day of week.
    Cron {
        /// The pattern.
        pattern: String,
        /// The IANA zone whose clocks it reads; UTC without one.
        tz: Option<String>,
    },
}

/// As it is written in an annotation.
impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(span) => match SignedDuration::try_from(*span) {
                Ok(span) => write!(f, "every {span:#}"),
                Err(_) => write!(f, "every {span:?}"),
            },
            Self::Cron { pattern, tz: None } => write!(f, "{pattern} UTC"),
            Self::Cron { pattern, tz: Some(tz) } => write!(f, "{pattern} {tz}"),
        }
    }
}
