//! What an outcome really used, taken from a rate limit afterwards.

use super::{
    Invalid,
    admission::{Admission, LimitConfig, LimitKind},
    limits,
};

/// The most that one outcome may charge: above it a bucket could not count fractions.
const MOST: f64 = 1e12;

/// Tokens that an outcome takes from a rate limit's key, once, in the transaction that commits it.
#[derive(Debug, Clone, PartialEq)]
pub struct Charge {
    /// `name:part:part`, the stored key.
    pub key: String,
    /// Tokens, or parts of one.
    pub used: f64,
    /// What its type allows: it counts where nobody has made the limit known.
    pub config: LimitConfig,
}

impl Charge {
    /// Checks what any store can count.
    ///
    /// # Errors
    /// A key that is too long; an amount that is negative, not finite, or above 10^12.
    pub fn check(&self) -> Result<(), Invalid> {
        limits::key("rate limit key", &self.key)?;
        if (0.0..=MOST).contains(&self.used) {
            return Ok(());
        }
        Err(Invalid::new("charge", format!("is {}: 0 to {MOST:e} tokens are allowed", self.used)))
    }
}

impl Admission {
    /// Takes what was used from a key's counters, all of which are ours: what is there first, the fullest shard before the others,
    /// so that as large a weight as can be still passes; what is missing is owed, by all shards alike, and comes back before
    /// anything may be taken.
    pub fn charge(&mut self, key: &str, used: f64) {
        let Some(config) = self.config(LimitKind::Rate, key) else { return };
        let now = self.now;
        let buckets = self.of(LimitKind::Rate, key, &config);
        buckets.rows.iter_mut().for_each(|bucket| bucket.refill(&config, now));
        buckets.rows.sort_by(|a, b| b.available.total_cmp(&a.available).then(a.shard.cmp(&b.shard)));
        let mut missing = used;
        for bucket in &mut buckets.rows {
            let there = bucket.available.min(missing);
            bucket.available -= there;
            missing -= there;
        }
        let each = missing / buckets.rows.len().max(1) as f64;
        buckets.rows.iter_mut().for_each(|bucket| bucket.owed += each);
        buckets.changed = true;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use jiff::Timestamp;

    use super::*;
    use crate::model::{
        InstanceId,
        admission::{Admitted, Candidate},
    };

    const KEY: &str = "x:1";

    fn admission(capacity: f64, rate: f64, shards: i16) -> Admission {
        let config = LimitConfig { capacity, rate, shards };
        let configs = HashMap::from([((LimitKind::Rate, "x".to_owned()), config)]);
        Admission { configs, buckets: HashMap::new(), now: Timestamp::UNIX_EPOCH }
    }

    fn sums(admission: &Admission) -> (f64, f64) {
        let rows = &admission.buckets[&(LimitKind::Rate, KEY.to_owned())].rows;
        (rows.iter().map(|b| b.available).sum(), rows.iter().map(|b| b.owed).sum())
    }

    fn row(weight: f64) -> Candidate {
        let rate = Some((KEY.to_owned(), weight));
        let id = InstanceId::new(1);
        Candidate { id, key: None, busy: false, holds: None, rate, crashed: false, was_blocked: false }
    }

    #[test]
    fn a_charge_takes_what_is_there_and_the_rest_is_a_debt() {
        let mut admission = admission(10.0, 2.0, 1);
        admission.charge(KEY, 2.5);
        assert_eq!(sums(&admission), (7.5, 0.0));
        admission.charge(KEY, 12.5);
        assert_eq!(sums(&admission), (0.0, 5.0));
        let Admitted::Blocked(blocked) = admission.decide(&[row(1.0)], 1).remove(0) else { panic!("it waits") };
        let wait = blocked.until.expect("a moment").duration_since(Timestamp::UNIX_EPOCH).as_secs_f64();
        assert!((3.0..3.1).contains(&wait), "five owed and one more, at two a second: {wait}");
    }

    #[test]
    fn shards_share_a_charge_and_a_debt_holds_up_each_of_them() {
        let mut admission = admission(12.0, 3.0, 3);
        admission.charge(KEY, 5.0);
        assert_eq!(sums(&admission), (7.0, 0.0));
        assert!(matches!(admission.decide(&[row(4.0)], 1)[0], Admitted::Takes(_)), "one shard is whole");
        admission.charge(KEY, 9.0);
        assert_eq!(sums(&admission), (0.0, 6.0));
        assert!(matches!(admission.decide(&[row(1.0)], 1)[0], Admitted::Blocked(_)));
    }

    #[test]
    fn a_debt_is_paid_by_the_refill_and_by_nothing_else() {
        let mut admission = admission(5.0, 1.0, 1);
        admission.charge(KEY, 15.0);
        let mut is_admitted = |seconds| {
            admission.now = Timestamp::from_second(seconds).expect("near");
            // Asked for afresh: a promise would hold it up as well.
            let buckets = admission.buckets.get_mut(&(LimitKind::Rate, KEY.to_owned())).expect("there");
            buckets.rows[0].promised = None;
            matches!(admission.decide(&[row(1.0)], 1)[0], Admitted::Takes(_))
        };
        assert!(!is_admitted(9) && !is_admitted(10) && is_admitted(11));
    }

    #[test]
    fn amounts_that_no_bucket_can_count_are_refused() {
        let config = LimitConfig { capacity: 1.0, rate: 1.0, shards: 1 };
        let charge = |used| Charge { key: KEY.into(), used, config };
        for bad in [-0.1, f64::NAN, f64::INFINITY, 2e12] {
            assert!(charge(bad).check().is_err(), "{bad}");
        }
        assert!(charge(0.0).check().is_ok() && charge(0.25).check().is_ok());
    }
}
