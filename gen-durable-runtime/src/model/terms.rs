//! What somebody says of a limit instead of its type, and what may not be said.

use std::time::Duration;

use super::{
    Invalid,
    admission::{LimitConfig, LimitKind},
    limits,
};

/// What a limit is to allow; what is not said stays as it is.
///
/// ```
/// # use std::time::Duration;
/// # use gen_durable_runtime::model::LimitTerms;
/// let carrier = LimitTerms::rate(200, Duration::from_secs(60)).burst(40);
/// let door = LimitTerms::slots(8);
/// let only_wider = LimitTerms::default().shards(4);
/// # let _ = (carrier, door, only_wider);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use = "it says what a limit is to allow, to whomever it is given"]
pub struct LimitTerms {
    slots: Option<u32>,
    rate: Option<(u32, Duration)>,
    burst: Option<u32>,
    shards: Option<u16>,
}

impl LimitTerms {
    /// Of a rate limit: so many tokens each `per`.
    pub fn rate(allowed: u32, per: Duration) -> Self {
        Self { rate: Some((allowed, per)), ..Self::default() }
    }

    /// Of a concurrency key with a limit: how many execute at once.
    pub fn slots(slots: u32) -> Self {
        Self { slots: Some(slots), ..Self::default() }
    }

    /// Of a rate limit: the size of a key's bucket.
    pub fn burst(self, burst: u32) -> Self {
        Self { burst: Some(burst), ..self }
    }

    /// Counter rows a key.
    pub fn shards(self, shards: u16) -> Self {
        Self { shards: Some(shards), ..self }
    }

    /// The kind of limit that it can be said of; `None` where it fits both.
    pub fn kind(&self) -> Option<LimitKind> {
        match (self.slots, self.rate, self.burst) {
            (Some(_), None, None) => Some(LimitKind::Gate),
            (None, None, None) => None,
            (Some(_) | None, ..) => Some(LimitKind::Rate),
        }
    }

    /// These terms over those that stand, unless a step could never pass: `weights` are the constant weights of the steps that the
    /// limit admits, each with who takes it.
    ///
    /// # Errors
    /// One sentence, with what to say instead.
    pub fn over(
        &self,
        kind: LimitKind,
        stands: LimitConfig,
        weights: &[(u32, String)],
    ) -> Result<LimitConfig, Invalid> {
        let shards = self.shards.map_or(Ok(stands.shards), shards)?;
        let config = match kind {
            LimitKind::Gate => LimitConfig { capacity: self.gate()?.unwrap_or(stands.capacity), rate: 0.0, shards },
            LimitKind::Rate => {
                let (rate, burst) = self.bucket()?;
                let (capacity, rate) = (burst.unwrap_or(stands.capacity), rate.unwrap_or(stands.rate));
                LimitConfig { capacity, rate, shards }
            }
        };
        each_shard_has_one(kind, &config)?;
        weights.iter().try_for_each(|(weight, taker)| passes(&config, *weight, taker))?;
        Ok(config)
    }

    fn gate(&self) -> Result<Option<f64>, Invalid> {
        if self.rate.is_some() || self.burst.is_some() {
            return Err(Invalid::new("limit", "is a gate: it has slots, neither a rate nor a burst"));
        }
        self.slots.map(|slots| at_least_one("slots", slots)).transpose()
    }

    fn bucket(&self) -> Result<(Option<f64>, Option<f64>), Invalid> {
        if self.slots.is_some() {
            return Err(Invalid::new("limit", "is a rate limit: say how many it allows in which time, not its slots"));
        }
        let rate = self.rate.map(|(allowed, per)| {
            limits::delay("per", per)?;
            if per.is_zero() {
                return Err(Invalid::new("per", "is zero"));
            }
            Ok(at_least_one("allowed", allowed)? / per.as_secs_f64())
        });
        Ok((rate.transpose()?, self.burst.map(|burst| at_least_one("burst", burst)).transpose()?))
    }
}

fn at_least_one(field: &str, n: u32) -> Result<f64, Invalid> {
    if n == 0 { Err(Invalid::new(field, "is zero")) } else { Ok(f64::from(n)) }
}

fn shards(n: u16) -> Result<i16, Invalid> {
    match i16::try_from(n) {
        Ok(shards) if shards > 0 => Ok(shards),
        Ok(_) | Err(_) => Err(Invalid::new("shards", format!("is {n}: 1 to {} are allowed", i16::MAX))),
    }
}

fn each_shard_has_one(kind: LimitKind, config: &LimitConfig) -> Result<(), Invalid> {
    let LimitConfig { capacity, shards, .. } = config;
    if f64::from(*shards) <= *capacity {
        return Ok(());
    }
    let what = match kind {
        LimitKind::Gate => "slots",
        LimitKind::Rate => "tokens",
    };
    Err(Invalid::new("shards", format!("is {shards}, and they share {capacity} {what}: each needs at least one")))
}

fn passes(config: &LimitConfig, weight: u32, taker: &str) -> Result<(), Invalid> {
    let most = (config.capacity / f64::from(config.shards)).floor();
    if f64::from(weight) <= most {
        return Ok(());
    }
    let least = u64::from(weight) * u64::from(config.shards.unsigned_abs());
    let text = format!("leaves {most} tokens a shard, and {taker} takes {weight} at once: it needs a burst of {least}");
    Err(Invalid::new("burst", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: LimitConfig = LimitConfig { capacity: 20.0, rate: 2.0, shards: 1 };
    const GATE: LimitConfig = LimitConfig { capacity: 4.0, rate: 0.0, shards: 2 };

    #[test]
    fn what_is_not_said_stays() {
        let rate = |terms: LimitTerms| terms.over(LimitKind::Rate, RATE, &[]).expect("fits");
        assert_eq!(rate(LimitTerms::default().burst(40)), LimitConfig { capacity: 40.0, ..RATE });
        assert_eq!(rate(LimitTerms::rate(30, Duration::from_secs(60))), LimitConfig { rate: 0.5, ..RATE });
        let gate = LimitTerms::slots(8).over(LimitKind::Gate, GATE, &[]).expect("fits");
        assert_eq!(gate, LimitConfig { capacity: 8.0, ..GATE });
    }

    #[test]
    fn terms_under_which_a_step_could_never_pass_are_refused_with_what_would_do() {
        let weights = [(2, "`ship` of `order`".to_owned())];
        let over = |terms: LimitTerms| terms.over(LimitKind::Rate, RATE, &weights).map_err(|e| e.to_string());
        assert_eq!(
            over(LimitTerms::default().burst(7).shards(4)),
            Err("burst leaves 1 tokens a shard, and `ship` of `order` takes 2 at once: it needs a burst of 8".into())
        );
        assert!(over(LimitTerms::default().burst(8).shards(4)).is_ok());
    }

    #[test]
    fn nonsense_is_named() {
        let rate = |terms: LimitTerms| terms.over(LimitKind::Rate, RATE, &[]).expect_err("refused").field().to_owned();
        assert_eq!(rate(LimitTerms::default().burst(0)), "burst");
        assert_eq!(rate(LimitTerms::rate(1, Duration::ZERO)), "per");
        assert_eq!(rate(LimitTerms::rate(0, Duration::from_secs(1))), "allowed");
        assert_eq!(rate(LimitTerms::default().shards(40_000)), "shards");
        assert_eq!(rate(LimitTerms::default().shards(21)), "shards");
        assert_eq!(rate(LimitTerms::slots(1)), "limit");
        let gate = LimitTerms::default().burst(1).over(LimitKind::Gate, GATE, &[]);
        assert_eq!(gate.expect_err("refused").field(), "limit");
        assert!(LimitTerms::slots(1).over(LimitKind::Gate, GATE, &[]).is_err(), "two shards share one slot");
    }
}
