//! What a claim under limits reads and writes, in no dialect.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use crate::model::{
    Change, Claim, Transition,
    admission::{
        Admission, Admitted, Blocked, Bucket, Buckets, Candidate, LimitConfig, LimitKind, healed, is_idle, name_of,
        resized,
    },
};

/// Who says what a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saying {
    /// A boot: what no operator has set.
    Boot,
    /// An operator.
    Operator,
    /// An operator, who leaves it to the code again.
    Reset,
}

/// Candidates at least, so that what is blocked is set aside in large pieces.
pub(super) const CANDIDATES: u32 = 1_000;

/// The limits that candidates name: kinds and names, each once.
pub(super) fn names(candidates: &[Candidate]) -> (Vec<&'static str>, Vec<&str>) {
    let named: BTreeSet<(LimitKind, &str)> = keys(candidates).map(|(kind, key)| (kind, name_of(key))).collect();
    named.into_iter().map(|(kind, name)| (kind.as_str(), name)).unzip()
}

/// Keys whose counters are needed, and how many candidates name each.
pub(super) type Counted<'c> = BTreeMap<(LimitKind, &'c str), u32>;

/// Those that have a limit.
pub(super) fn counted<'c>(admission: &Admission, candidates: &'c [Candidate]) -> Counted<'c> {
    let mut counted = BTreeMap::new();
    for (kind, key) in keys(candidates).filter(|(kind, key)| admission.config(*kind, key).is_some()) {
        *counted.entry((kind, key)).or_default() += 1;
    }
    counted
}

fn keys(candidates: &[Candidate]) -> impl Iterator<Item = (LimitKind, &str)> {
    let gates = candidates.iter().filter_map(|c| c.key.as_deref()).map(|key| (LimitKind::Gate, key));
    let rates = candidates.iter().filter_map(|c| c.rate.as_ref()).map(|(key, _)| (LimitKind::Rate, key.as_str()));
    gates.chain(rates)
}

/// What outcomes charge, by key: the sum, and what the type of the limit says.
pub(super) struct Charges<'t>(BTreeMap<&'t str, (f64, LimitConfig)>);

impl<'t> Charges<'t> {
    pub(super) fn of(written: &[&'t Transition]) -> Self {
        let mut all: BTreeMap<&str, (f64, LimitConfig)> = BTreeMap::new();
        for charge in written.iter().filter_map(|t| t.effects.as_ref()).flat_map(|e| &e.charges) {
            all.entry(&charge.key).or_insert((0.0, charge.config)).0 += charge.used;
        }
        Self(all)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = (LimitKind, &'t str)> {
        self.0.keys().map(|key| (LimitKind::Rate, *key))
    }

    /// Their limits: kinds and names, each once.
    pub(super) fn names(&self) -> (Vec<&'static str>, Vec<&'t str>) {
        let names: BTreeSet<&str> = self.0.keys().map(|key| name_of(key)).collect();
        names.into_iter().map(|name| (LimitKind::Rate.as_str(), name)).unzip()
    }

    /// A limit that nobody has made known is as its type says.
    pub(super) fn make_known(&self, admission: &mut Admission) {
        for (key, (_, config)) in &self.0 {
            admission.configs.entry((LimitKind::Rate, name_of(key).to_owned())).or_insert(*config);
        }
    }

    pub(super) fn take_from(&self, admission: &mut Admission) {
        self.0.iter().for_each(|(key, (used, _))| admission.charge(key, *used));
    }
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
pub(super) fn set_aside_for(answers: &[Admitted]) -> Vec<(String, u32)> {
    counts(answers.iter().filter_map(|answer| match answer {
        Admitted::Blocked(blocked) => blocked.by.strip_prefix("key:"),
        Admitted::Takes(_) | Admitted::Left => None,
    }))
}

/// The concurrency keys that a batch gave up, with their slots: `status` says how each row was written.
pub(super) fn released<'t>(t: &'t Transition, status: &str) -> Option<(&'t str, Option<i16>)> {
    let held = t.held.as_ref()?;
    let stays = match &t.change {
        Change::Advance(a) if status == "executing" => {
            a.entry.concurrency.as_ref().is_some_and(|slot| slot.key == held.key)
        }
        Change::Advance(_) | Change::Retry { .. } | Change::Done { .. } | Change::Fail { .. } => false,
        Change::Repark | Change::Release => false,
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
    fn set(&self, kind: LimitKind, running: &[(i16, f64)], changed: bool, now: Timestamp) -> Vec<Bucket> {
        let Some(config) = &self.config else { return self.buckets.clone() };
        match kind {
            LimitKind::Gate if running.is_empty() => vec![],
            LimitKind::Gate => healed(config, running),
            LimitKind::Rate if is_idle(config, &self.buckets, now) => vec![],
            LimitKind::Rate if changed => resized(config, &self.buckets, now),
            LimitKind::Rate => self.buckets.clone(),
        }
    }
}

/// The counters of some keys, each with what runs under it, as they are to be.
pub(super) fn set<'k>(
    kind: LimitKind,
    standing: &'k BTreeMap<String, Standing>,
    running: &HashMap<String, Vec<(i16, f64)>>,
    changed: bool,
    now: Timestamp,
) -> Vec<(&'k str, Bucket)> {
    let of = |(key, standing): (&'k String, &Standing)| {
        let running = running.get(key).map_or(&[][..], Vec::as_slice);
        standing.set(kind, running, changed, now).into_iter().map(|b| (key.as_str(), b)).collect::<Vec<_>>()
    };
    standing.iter().flat_map(of).collect()
}

/// The rows that pass, and their slots.
pub(super) fn taken<'c>(
    candidates: &'c [Candidate],
    answers: &[Admitted],
) -> impl Iterator<Item = (&'c Candidate, Option<i16>)> {
    candidates.iter().zip(answers).filter_map(|(candidate, answer)| match answer {
        Admitted::Takes(slot) => Some((candidate, *slot)),
        Admitted::Blocked(_) | Admitted::Left => None,
    })
}

/// The rows that are set aside.
pub(super) fn blocked<'c>(
    candidates: &'c [Candidate],
    answers: &'c [Admitted],
) -> impl Iterator<Item = (&'c Candidate, &'c Blocked)> {
    candidates.iter().zip(answers).filter_map(|(candidate, answer)| match answer {
        Admitted::Blocked(blocked) => Some((candidate, blocked)),
        Admitted::Takes(_) | Admitted::Left => None,
    })
}

/// Which of the claims hold a slot to their end.
pub(super) fn mark_held(claims: &mut [Claim], held: &[String]) {
    for claim in claims {
        let key = claim.concurrency_key.as_deref().filter(|_| claim.slot.is_some());
        claim.holds = key.is_some_and(|key| held.iter().any(|name| name == name_of(key)));
    }
}

/// How many rows such a claim saw, for whoever claims next: those that were set aside made room, and more may be behind them.
pub(super) fn looked(answers: &[Admitted], limit: u32, claims: usize) -> usize {
    if answers.iter().any(|a| matches!(a, Admitted::Blocked(_))) { limit as usize } else { claims }
}
