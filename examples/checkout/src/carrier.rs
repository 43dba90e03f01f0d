//! The carrier: somebody else's service, played by two tables. It is slow, it is down at times, and at times it books
//! a parcel and the answer gets lost.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use sqlx::AnyPool;

use crate::shop::number;

/// The most pieces of one parcel.
const PIECES_MAX: i64 = 20;

#[derive(Debug, Clone)]
pub struct Carrier {
    pool: AnyPool,
}

/// The carrier will not take this parcel, however often it is asked.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused(pub String);

/// It did not work this time.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("the carrier is down")]
    Down,
    #[error("no answer from the carrier")]
    NoAnswer,
    #[error("the line to the carrier broke")]
    Line(#[from] sqlx::Error),
}

/// How a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Booked,
    Refused,
    Down,
    /// It is booked, and nobody hears of it.
    Lost,
}

impl Carrier {
    pub fn new(pool: AnyPool) -> Self {
        Self { pool }
    }

    /// Books a parcel, one for a key, and gives its tracking number.
    pub async fn book(&self, order: u64, pieces: i64, key: &str) -> Result<Result<String, Refused>, Trouble> {
        let call = sqlx::query_as(include_str!("sql/call.sql")).bind(number(order)).bind(key);
        let (call, earlier): (i64, i64) = call.fetch_one(&self.pool).await?;
        let answer = Answer::to(order, pieces, earlier);
        tokio::time::sleep(Duration::from_millis(20 + luck(order, earlier, "slow") % 40)).await;
        if answer == Answer::Booked || answer == Answer::Lost {
            let tracking = format!("P{:08X}", luck(order, 0, "tracking") & 0xFFFF_FFFF);
            let book = sqlx::query(include_str!("sql/book.sql")).bind(key).bind(number(order)).bind(tracking);
            book.execute(&self.pool).await?;
        }
        let reply = sqlx::query_scalar(include_str!("sql/answer.sql")).bind(call).bind(answer.name());
        let tracking: Option<String> = reply.fetch_one(&self.pool).await?;
        match (answer, tracking) {
            (Answer::Booked, Some(tracking)) => Ok(Ok(tracking)),
            (Answer::Refused, _) => Ok(Err(Refused(format!("{pieces} pieces, a parcel takes {PIECES_MAX}")))),
            (Answer::Down, _) => Err(Trouble::Down),
            (Answer::Lost, _) | (Answer::Booked, None) => Err(Trouble::NoAnswer),
        }
    }

    /// Calls an order's parcel back, if one was booked.
    pub async fn recall(&self, order: u64) -> Result<(), Trouble> {
        sqlx::query(include_str!("sql/recall.sql")).bind(number(order)).execute(&self.pool).await?;
        Ok(())
    }
}

impl Answer {
    /// Three calls in eight fail, one of them after the booking. The same call always goes the same way, so that every
    /// run of the demo shows the same.
    fn to(order: u64, pieces: i64, earlier_calls: i64) -> Self {
        match luck(order, earlier_calls, "answer") % 8 {
            _ if pieces > PIECES_MAX => Self::Refused,
            0 | 1 => Self::Down,
            2 => Self::Lost,
            _ => Self::Booked,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Booked => "booked",
            Self::Refused => "refused",
            Self::Down => "down",
            Self::Lost => "lost",
        }
    }
}

fn luck(order: u64, call: i64, of: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (order, call, of).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_calls_in_eight_fail_and_a_heavy_parcel_is_always_refused() {
        let answers = || (0..8_000).map(|order| Answer::to(order, 1, 0));
        let share = |of: Answer| answers().filter(|a| *a == of).count();
        assert!((900..1_100).contains(&share(Answer::Lost)), "{}", share(Answer::Lost));
        assert!((1_850..2_150).contains(&share(Answer::Down)), "{}", share(Answer::Down));
        assert!((0..100).all(|order| Answer::to(order, PIECES_MAX + 1, 0) == Answer::Refused));
    }
}
