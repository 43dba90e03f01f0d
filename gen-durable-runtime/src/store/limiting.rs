//! What a claim under limits reads and writes, in no dialect.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;

use crate::model::{
    Change, Transition,
    admission::{Admission, Bucket, Buckets, Candidate, LimitConfig, LimitKind, healed, name_of, resized},
};

/// Candidates at least, so that what is blocked is set aside in large pieces.
pub(super) const CANDIDATES: u32 = 1_000;

/// The limits that candidates name: kinds and names, each once.
pub(super) fn names(candidates: &[Candidate]) -> (Vec<&'static str>, Vec<&str>) {
    let named: BTreeSet<(LimitKind, &str)> = keys(candidates).map(|(kind, key)| (kind, name_of(key))).collect();
    named.into_iter().map(|(kind, name)| (kind.as_str(), name)).unzip()
}

/// The keys whose counters are needed: those that have a limit.
pub(super) fn counted<'c>(admission: &Admission, candidates: &'c [Candidate]) -> Vec<(LimitKind, &'c str)> {
    let keys: BTreeSet<_> = keys(candidates).filter(|(kind, key)| admission.config(*kind, key).is_some()).collect();
    keys.into_iter().collect()
}

fn keys(candidates: &[Candidate]) -> impl Iterator<Item = (LimitKind, &str)> {
    let gates = candidates.iter().filter_map(|c| c.key.as_deref()).map(|key| (LimitKind::Gate, key));
    let rates = candidates.iter().filter_map(|c| c.rate.as_ref()).map(|(key, _)| (LimitKind::Rate, key.as_str()));
    gates.chain(rates)
}

/// One counter to write.
pub(super) struct Counter<'a> {
    pub(super) kind: LimitKind,
    pub(super) key: &'a str,
    pub(super) bucket: &'a Bucket,
}

/// The counters that changed: those that stand, and those that are made; in the order of keys.
pub(super) fn changed(admission: &Admission) -> (Vec<Counter<'_>>, Vec<Counter<'_>>) {
    let mut all: Vec<(&(LimitKind, String), &Buckets)> = admission.buckets.iter().filter(|(_, b)| b.changed).collect();
    all.sort_by_key(|(of, _)| *of);
    let of = |minted: bool| {
        let some = all.iter().filter(move |(_, b)| b.minted == minted);
        some.flat_map(|(of, b)| b.rows.iter().map(|bucket| Counter { kind: of.0, key: &of.1, bucket })).collect()
    };
    (of(false), of(true))
}

/// The keys without a time at which rows were set aside just now: one that became free meanwhile woke nobody.
#[cfg(feature = "postgres")]
pub(super) fn set_aside_for(answers: &[crate::model::admission::Admitted]) -> Vec<(String, u32)> {
    let mut keys: HashMap<&str, u32> = HashMap::new();
    for answer in answers {
        let crate::model::admission::Admitted::Blocked(blocked) = answer else { continue };
        let Some(key) = blocked.by.strip_prefix("key:") else { continue };
        *keys.entry(key).or_default() += 1;
    }
    keys.into_iter().map(|(key, rows)| (key.to_owned(), rows)).collect()
}

/// The concurrency keys that a batch gave up, with their slots: `status` says how each row was written.
pub(super) fn released<'t>(t: &'t Transition, status: &str) -> Option<(&'t str, Option<i16>)> {
    let held = t.held.as_ref()?;
    let stays = match &t.change {
        Change::Advance(a) if status == "executing" => {
            a.entry.concurrency.as_ref().is_some_and(|slot| slot.key == held.key)
        }
        _ => false,
    };
    (!stays && !held.kept).then_some((&held.key, held.slot))
}

/// How often each key was given up.
pub(super) fn counts<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<(String, u32)> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.into_iter().map(|(key, n)| (key.to_owned(), n)).collect()
}

/// What rows may have been set aside for that waited under other terms of this limit: a cause, and a prefix of causes.
pub(super) fn causes_of(kind: LimitKind, name: &str) -> [(String, String); 2] {
    let keys = match kind {
        LimitKind::Gate => format!("key:{name}"),
        LimitKind::Rate => format!("rate:{name}"),
    };
    let prefix = format!("{keys}:");
    [(format!("limit:{name}"), prefix.clone()), (keys, prefix)]
}

/// A key's counters as they stand, and what its limit allows now.
pub(super) struct Standing {
    pub(super) config: Option<LimitConfig>,
    pub(super) buckets: Vec<Bucket>,
}

impl Standing {
    /// What the counters are to be. A limit that nobody knows leaves them as they are; an idle key has none.
    pub(super) fn set(&self, kind: LimitKind, running: &[(i16, f64)], now: Timestamp) -> Vec<Bucket> {
        let Some(config) = &self.config else { return self.buckets.clone() };
        match kind {
            LimitKind::Gate if running.is_empty() => vec![],
            LimitKind::Gate => healed(config, running),
            LimitKind::Rate => resized(config, &self.buckets, now),
        }
    }
}
