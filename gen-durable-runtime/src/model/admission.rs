//! Who of the due rows may run, under gates, keys and rate limits. Decided here, once; a store reads and writes the counters.
//!
//! Within one key the order is strict: once a row of a key is refused, no later row of that key passes. A row takes from its
//! gate and its rate limit only if it passes both.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use super::InstanceId;

/// Which limit a counter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitKind {
    /// Slots of a gate.
    Gate,
    /// Tokens of a rate limit.
    Rate,
}

impl LimitKind {
    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gate => "conc",
            Self::Rate => "rate",
        }
    }

    /// The kind with this stored name.
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Gate, Self::Rate].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a limit allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitConfig {
    /// Slots, or the size of the bucket.
    pub capacity: f64,
    /// Tokens a second; 0 for a gate.
    pub rate: f64,
    /// Counter rows a key.
    pub shards: i16,
}

impl LimitConfig {
    /// The capacity of one shard. Slots are whole: the first shards have what is left over.
    pub fn of_shard(&self, kind: LimitKind, shard: i16) -> f64 {
        let shards = f64::from(self.shards.max(1));
        match kind {
            LimitKind::Rate => self.capacity / shards,
            LimitKind::Gate => {
                let whole = (self.capacity / shards).floor();
                whole + f64::from(u8::from(f64::from(shard) < self.capacity - whole * shards))
            }
        }
    }
}

/// One counter row, locked.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    /// Its number.
    pub shard: i16,
    /// The most it may have.
    pub capacity: f64,
    /// What may be taken.
    pub available: f64,
    /// What comes back before anything may be taken.
    pub owed: f64,
    /// When it was refilled last.
    pub refilled: Option<Timestamp>,
    /// Until when tokens of the whole key are promised; on shard 0.
    pub promised: Option<Timestamp>,
}

impl Bucket {
    /// A key's first row is made when it is first taken from.
    pub fn new(config: &LimitConfig, kind: LimitKind, shard: i16, now: Timestamp) -> Self {
        let capacity = config.of_shard(kind, shard);
        let refilled = (kind == LimitKind::Rate).then_some(now);
        Self { shard, capacity, available: capacity, owed: 0.0, refilled, promised: None }
    }

    /// Adds what came back: what is owed first. Never more than the capacity, however long ago.
    pub fn credit(&mut self, amount: f64) {
        let paid = self.owed.min(amount);
        self.owed -= paid;
        self.available = (self.available + amount - paid).min(self.capacity);
    }

    /// The tokens that time brought. A clock that went back brings none, and takes none away.
    pub fn refill(&mut self, config: &LimitConfig, now: Timestamp) {
        let Some(since) = self.refilled else { return };
        let seconds = now.duration_since(since).as_secs_f64();
        if seconds > 0.0 {
            self.credit(seconds * config.rate / f64::from(config.shards.max(1)));
            self.refilled = Some(now);
        }
    }

    /// How long until it has so much.
    fn wait_for(&self, amount: f64, config: &LimitConfig) -> f64 {
        let missing = (amount - self.available).max(0.0) + self.owed;
        missing / (config.rate / f64::from(config.shards.max(1))).max(f64::MIN_POSITIVE)
    }
}

/// The counter rows of one key, as far as they could be locked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Buckets {
    /// Those that are ours for now, by their number.
    pub rows: Vec<Bucket>,
    /// Others stand: someone else holds them, or they were not needed.
    pub locked: bool,
    /// They were made here, and are inserted.
    pub minted: bool,
    /// They changed, and are written.
    pub changed: bool,
}

/// A due row, in its order.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The instance.
    pub id: InstanceId,
    /// Its concurrency key,
    pub key: Option<String>,
    /// which is executing, where its key has no gate,
    pub busy: bool,
    /// and the slot of it that the instance holds already.
    pub holds: Option<i16>,
    /// Its rate limit's key, and how much it takes.
    pub rate: Option<(String, f64)>,
    /// It crashed twice before: one of these at a time.
    pub crashed: bool,
    /// It was set aside before.
    pub was_blocked: bool,
}

impl Candidate {
    /// Its keys, each with the kind of limit that may stand on it.
    pub fn keys(&self) -> impl Iterator<Item = (LimitKind, String)> {
        let gate = self.key.iter().map(|key| (LimitKind::Gate, key.clone()));
        gate.chain(self.rate.iter().map(|(key, _)| (LimitKind::Rate, key.clone())))
    }
}

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Admitted {
    /// It runs, in this slot of its gate.
    Takes(Option<i16>),
    /// It is set aside.
    Blocked(Blocked),
    /// It stands where it stands: someone else holds the counter, or it is not its turn.
    Left,
}

/// Why a row is set aside.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocked {
    /// What it waits for, as it is stored: `key:`, `rate:` or `limit:` and the key or the name.
    pub by: String,
    /// When its tokens are there; `None` until it is woken.
    pub until: Option<Timestamp>,
}

/// The limits, the counters and the clock of one claim.
#[derive(Debug)]
pub struct Admission {
    /// By kind and name.
    pub configs: HashMap<(LimitKind, String), LimitConfig>,
    /// By kind and key.
    pub buckets: HashMap<(LimitKind, String), Buckets>,
    /// The database's time.
    pub now: Timestamp,
}

/// The name of a key's type: what stands before its first part.
pub fn name_of(key: &str) -> &str {
    key.split_once(':').map_or(key, |(name, _)| name)
}

impl Admission {
    /// The config of a key's type.
    pub fn config(&self, kind: LimitKind, key: &str) -> Option<LimitConfig> {
        self.configs.get(&(kind, name_of(key).to_owned())).copied()
    }

    /// Decides for each, in order, until `limit` are taken; the rest is left.
    pub fn decide(&mut self, candidates: &[Candidate], limit: usize) -> Vec<Admitted> {
        let (mut turn, mut taken) = (Turn::default(), 0);
        let mut answers = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let answer = if taken < limit { self.one(candidate, &mut turn) } else { Admitted::Left };
            taken += usize::from(matches!(answer, Admitted::Takes(_)));
            answers.push(answer);
        }
        answers
    }

    fn one(&mut self, c: &Candidate, turn: &mut Turn) -> Admitted {
        if c.crashed && turn.crashed {
            // It keeps its place in the line of its keys.
            turn.left.extend(c.keys());
            return Admitted::Left;
        }
        let slot = match self.slot(c, turn) {
            Ok(slot) => slot,
            Err(refused) => return turn.refused(LimitKind::Gate, c.key.as_ref(), refused),
        };
        if let Err(refused) = self.tokens(c, turn) {
            // Who comes new stands behind all promises, so whoever was promised does not stand behind him, however urgent he is.
            let stands = c.was_blocked || refused == Admitted::Left;
            return turn.refused(LimitKind::Rate, c.rate.as_ref().filter(|_| stands).map(|(key, _)| key), refused);
        }
        turn.crashed |= c.crashed;
        if let Some(key) = &c.key {
            match slot {
                Some(shard) if c.holds.is_none() => self.take(LimitKind::Gate, key, shard, 1.0),
                Some(_) => {}
                None => drop(turn.keys.insert(key.clone())),
            }
        }
        Admitted::Takes(slot)
    }

    /// A free slot of its gate; `None` where its key has no gate and is free.
    fn slot(&mut self, c: &Candidate, turn: &Turn) -> Result<Option<i16>, Admitted> {
        let Some(key) = &c.key else { return Ok(None) };
        if c.holds.is_some() {
            return Ok(c.holds);
        }
        let blocked = || Admitted::Blocked(Blocked { by: format!("key:{key}"), until: None });
        let of = (LimitKind::Gate, key.clone());
        if turn.left.contains(&of) {
            return Err(Admitted::Left);
        }
        let Some(config) = self.config(LimitKind::Gate, key) else {
            return if c.busy || turn.keys.contains(key) { Err(blocked()) } else { Ok(None) };
        };
        if turn.blocked.contains(&of) {
            return Err(blocked());
        }
        let buckets = self.of(LimitKind::Gate, key, &config);
        // The fullest first, so that the counters stay even; of those an even one for an even instance: two commit lanes, split by
        // instance, then never wait for each other at one counter.
        let is_of_lane = |b: &Bucket| i64::from(b.shard % 2) == c.id.get().rem_euclid(2);
        let free = buckets.rows.iter().filter(|b| b.available >= 1.0 && b.owed == 0.0);
        let fuller = |a: &&Bucket, b: &&Bucket| a.available.total_cmp(&b.available).then(b.shard.cmp(&a.shard));
        match free.max_by(|a, b| is_of_lane(a).cmp(&is_of_lane(b)).then_with(|| fuller(a, b))) {
            Some(bucket) => Ok(Some(bucket.shard)),
            None if buckets.locked => Err(Admitted::Left),
            None => Err(blocked()),
        }
    }

    /// Takes its tokens, or says until when it waits for them.
    fn tokens(&mut self, c: &Candidate, turn: &mut Turn) -> Result<(), Admitted> {
        let Some((key, weight)) = &c.rate else { return Ok(()) };
        let of = (LimitKind::Rate, key.clone());
        if turn.left.contains(&of) {
            return Err(Admitted::Left);
        }
        let Some(config) = self.config(LimitKind::Rate, key) else {
            let until = Some(after(self.now, UNKNOWN));
            return Err(Admitted::Blocked(Blocked { by: format!("limit:{}", name_of(key)), until }));
        };
        // A weight that no shard can hold would wait for ever: the limit was made smaller since. It takes all there can be.
        let weight = weight.min(config.of_shard(LimitKind::Rate, 0));
        let now = self.now;
        let buckets = self.of(LimitKind::Rate, key, &config);
        buckets.rows.iter_mut().for_each(|b| b.refill(&config, now));
        // Whoever comes new stands behind those to whom tokens are promised, however little it takes; one that was promised
        // before, only behind whoever was refused just now.
        let promised = buckets.promised().filter(|at| *at > now);
        let stands_behind = turn.blocked.contains(&of) || (promised.is_some() && !c.was_blocked);
        let enough = buckets.rows.iter().find(|b| !stands_behind && b.available + EPSILON >= weight && b.owed == 0.0);
        if let Some(shard) = enough.map(|b| b.shard) {
            self.take(LimitKind::Rate, key, shard, weight);
            return Ok(());
        }
        if buckets.locked || !buckets.rows.iter().any(|b| b.shard == 0) {
            return Err(Admitted::Left);
        }
        let soonest = buckets.rows.iter().map(|b| b.wait_for(weight, &config)).fold(f64::INFINITY, f64::min);
        let soonest = after(now, soonest);
        let until = match promised.filter(|_| stands_behind) {
            Some(last) => after(last, weight / config.rate.max(f64::MIN_POSITIVE)).max(soonest),
            None => soonest,
        };
        buckets.promise(promised.map_or(until, |last| last.max(until)));
        Err(Admitted::Blocked(Blocked { by: format!("rate:{key}"), until: Some(until) }))
    }

    /// The rows of a key; made if there are none.
    pub(super) fn of(&mut self, kind: LimitKind, key: &str, config: &LimitConfig) -> &mut Buckets {
        let now = self.now;
        let buckets = self.buckets.entry((kind, key.to_owned())).or_default();
        if buckets.rows.is_empty() && !buckets.locked {
            buckets.rows = (0..config.shards.max(1)).map(|shard| Bucket::new(config, kind, shard, now)).collect();
            buckets.minted = true;
        }
        buckets
    }

    fn take(&mut self, kind: LimitKind, key: &str, shard: i16, amount: f64) {
        let Some(buckets) = self.buckets.get_mut(&(kind, key.to_owned())) else { return };
        if let Some(bucket) = buckets.rows.iter_mut().find(|b| b.shard == shard) {
            bucket.available = (bucket.available - amount).max(0.0);
            buckets.changed = true;
        }
    }
}

/// The counters of a gate's key, made from what runs: after a crash, and when its limit changed. Whoever runs in a shard that is
/// no more counts in another.
pub fn healed(config: &LimitConfig, running: &[(i16, f64)]) -> Vec<Bucket> {
    let shards = config.shards.max(1);
    let of = |shard: i16| running.iter().filter(|(s, _)| s.rem_euclid(shards) == shard).map(|(_, n)| n).sum::<f64>();
    let bucket = |shard| {
        let (capacity, running) = (config.of_shard(LimitKind::Gate, shard), of(shard));
        let (available, owed) = ((capacity - running).max(0.0), (running - capacity).max(0.0));
        Bucket { shard, capacity, available, owed, refilled: None, promised: None }
    };
    let mut buckets: Vec<Bucket> = (0..shards).map(bucket).collect();
    // One shard's surplus must not run beside what is over the limit in another.
    let mut over: f64 = buckets.iter().map(|b| b.owed).sum();
    for bucket in &mut buckets {
        let less = bucket.available.min(over);
        bucket.available -= less;
        over -= less;
    }
    buckets
}

/// Whether the counters of a rate limit's key are full: a new key's would be the same.
pub fn is_idle(config: &LimitConfig, buckets: &[Bucket], now: Timestamp) -> bool {
    buckets.iter().all(|b| {
        let mut b = b.clone();
        b.refill(config, now);
        b.available >= b.capacity && b.owed == 0.0 && b.promised.is_none_or(|at| at <= now)
    })
}

/// The counters of a rate limit's key under a changed limit: what was there is spread over its shards, and never more than it
/// can hold. What was promised under the old terms is not promised any more.
pub fn resized(config: &LimitConfig, buckets: &[Bucket], now: Timestamp) -> Vec<Bucket> {
    let mut there = buckets.to_vec();
    there.iter_mut().for_each(|b| b.refill(config, now));
    let (available, owed) = (there.iter().map(|b| b.available).sum::<f64>(), there.iter().map(|b| b.owed).sum::<f64>());
    let shards = f64::from(config.shards.max(1));
    let bucket = |shard| {
        let new = Bucket::new(config, LimitKind::Rate, shard, now);
        Bucket { available: (available / shards).min(new.capacity), owed: owed / shards, ..new }
    };
    (0..config.shards.max(1)).map(bucket).collect()
}

/// Seconds until a row whose limit nobody knows is looked at again, should nobody have woken it.
const UNKNOWN: f64 = 300.0;
/// What rounding may lose of a token.
const EPSILON: f64 = 1e-6;
/// A promise is kept in microseconds, rounded on its way: a token that is almost there would be waited for twice.
const ROUNDING: SignedDuration = SignedDuration::from_micros(3);

impl Buckets {
    fn promised(&self) -> Option<Timestamp> {
        self.rows.iter().find(|b| b.shard == 0)?.promised
    }

    fn promise(&mut self, until: Timestamp) {
        if let Some(first) = self.rows.iter_mut().find(|b| b.shard == 0) {
            first.promised = Some(until);
            self.changed = true;
        }
    }
}

/// What the rows before left to the ones behind them.
#[derive(Default)]
struct Turn {
    /// One that crashed before runs.
    crashed: bool,
    /// Keys without a gate that were taken.
    keys: HashSet<String>,
    /// Keys at which a row was refused: nobody behind it passes.
    blocked: HashSet<(LimitKind, String)>,
    /// Keys of which a row was left: nobody behind it overtakes.
    left: HashSet<(LimitKind, String)>,
}

impl Turn {
    /// By this key.
    fn refused(&mut self, kind: LimitKind, by: Option<&String>, answer: Admitted) -> Admitted {
        let by = by.map(|key| (kind, key.clone()));
        match &answer {
            Admitted::Blocked(_) => self.blocked.extend(by),
            Admitted::Left | Admitted::Takes(_) => self.left.extend(by),
        }
        answer
    }
}

/// So many seconds later, as far as the calendar goes.
fn after(at: Timestamp, seconds: f64) -> Timestamp {
    let span = SignedDuration::try_from_secs_f64(seconds.min(3.2e9)).unwrap_or(SignedDuration::MAX);
    at.checked_add(span).and_then(|at| at.checked_add(ROUNDING)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission() -> Admission {
        let gate = LimitConfig { capacity: 1.0, rate: 0.0, shards: 1 };
        let rate = LimitConfig { capacity: 5.0, rate: 1.0, shards: 1 };
        let configs = [(LimitKind::Gate, gate), (LimitKind::Rate, rate)];
        let configs = configs.into_iter().map(|(kind, config)| ((kind, "x".to_owned()), config)).collect();
        Admission { configs, buckets: HashMap::new(), now: Timestamp::UNIX_EPOCH }
    }

    fn row(id: i64, key: Option<&str>, rate: Option<&str>) -> Candidate {
        let (key, rate) = (key.map(str::to_owned), rate.map(|key| (key.to_owned(), 1.0)));
        let id = InstanceId::new(id);
        Candidate { id, key, busy: false, holds: None, rate, crashed: false, was_blocked: false }
    }

    fn taken(answers: &[Admitted]) -> Vec<bool> {
        answers.iter().map(|a| matches!(a, Admitted::Takes(_))).collect()
    }

    #[test]
    fn a_gate_and_a_rate_limit_of_one_name_are_two_limits() {
        let rows = [row(1, Some("x:1"), None), row(2, Some("x:1"), None), row(3, None, Some("x:1"))];
        assert_eq!(taken(&admission().decide(&rows, 9)), [true, false, true]);
    }

    #[test]
    fn a_row_takes_from_neither_limit_unless_it_passes_both() {
        let mut admission = admission();
        let rows = [row(1, Some("x:1"), Some("x:2")), row(2, Some("x:1"), Some("x:2")), row(3, None, Some("x:2"))];
        assert_eq!(taken(&admission.decide(&rows, 9)), [true, false, true]);
        let tokens = &admission.buckets[&(LimitKind::Rate, "x:2".to_owned())].rows[0];
        assert!((tokens.available - 3.0).abs() < EPSILON, "two of five are taken: {tokens:?}");
    }

    #[test]
    fn what_is_owed_is_paid_first_and_a_year_brings_one_burst() {
        let config = LimitConfig { capacity: 200.0, rate: 1.0, shards: 1 };
        let mut bucket = Bucket::new(&config, LimitKind::Rate, 0, Timestamp::UNIX_EPOCH);
        (bucket.available, bucket.owed) = (0.0, 50.0);
        let later = |seconds| Timestamp::from_second(seconds).expect("near");
        bucket.refill(&config, later(60));
        assert!((bucket.available - 10.0).abs() < 1e-6, "{bucket:?}");
        bucket.refill(&config, later(400 * 24 * 3_600));
        assert!((bucket.available - 200.0).abs() < f64::EPSILON, "a year brings one burst: {bucket:?}");
        bucket.refill(&config, Timestamp::UNIX_EPOCH);
        assert!((bucket.available - 200.0).abs() < f64::EPSILON, "a clock set back takes nothing: {bucket:?}");
    }

    #[test]
    fn who_comes_new_and_more_urgent_takes_nobody_his_promised_token() {
        let mut admission = admission();
        let first: Vec<Candidate> = (1..=7).map(|id| row(id, None, Some("x:1"))).collect();
        assert_eq!(taken(&admission.decide(&first, 9)), [true, true, true, true, true, false, false]);
        // A second later one token is there: the sixth row's. The seventh is promised the next one.
        admission.now = Timestamp::from_second(1).expect("near") + ROUNDING;
        let rows = [row(8, None, Some("x:1")), Candidate { was_blocked: true, ..row(6, None, Some("x:1")) }];
        assert_eq!(taken(&admission.decide(&rows, 9)), [false, true]);
    }

    #[test]
    fn a_thousand_fractions_of_a_token_bring_as_much_as_one_refill() {
        let config = LimitConfig { capacity: 1_000.0, rate: 5.0 / 60.0, shards: 3 };
        let empty = Bucket { available: 0.0, ..Bucket::new(&config, LimitKind::Rate, 0, Timestamp::UNIX_EPOCH) };
        let (mut often, mut once) = (empty.clone(), empty);
        for n in 1..=1_000 {
            often.refill(&config, Timestamp::from_millisecond(n * 37).expect("near"));
        }
        once.refill(&config, Timestamp::from_millisecond(37_000).expect("near"));
        assert!((often.available - once.available).abs() < EPSILON, "{often:?} beside {once:?}");
        assert!((once.available - 37.0 * 5.0 / 60.0 / 3.0).abs() < EPSILON, "{once:?}");
    }

    #[test]
    fn healed_counters_never_have_more_than_the_limit_leaves() {
        for (capacity, shards, running) in
            [(2.0, 2, vec![(0, 2.0)]), (7.0, 3, vec![(5, 4.0), (1, 1.0)]), (1.0, 1, vec![(2, 3.0)])]
        {
            let config = LimitConfig { capacity, rate: 0.0, shards };
            let sum = running.iter().map(|(_, n)| n).sum::<f64>();
            let buckets = healed(&config, &running);
            let available: f64 = buckets.iter().map(|b| b.available).sum();
            assert!(available <= (capacity - sum).max(0.0), "{buckets:?}");
        }
    }
}
