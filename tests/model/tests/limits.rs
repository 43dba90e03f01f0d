//! Gates and rate limits beside a simple model, over random histories of starts, claims, outcomes, crashes, time and changed
//! limits. `GEN_DURABLE_SEED=…` plays one history again.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use gen_durable_runtime::{
    model::{
        Change, Claim, ClaimToken, ConcurrencySlot, Entry, InstanceId, Json, RateTake, StartSpec, Transition,
        admission::{LimitConfig, LimitKind},
    },
    store::{ClaimOrder, Known, LimitDef, Store},
};
use model_tests::database::Database;

const HISTORIES: u64 = 25;
const STEPS: usize = 60;
const HOUR: i64 = 3_600_000_000;

/// A small generator whose whole state is its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What is known of a row without any database.
struct Row {
    id: InstanceId,
    key: String,
    weight: f64,
    /// Its place in line; `None` while it runs or when it has ended.
    place: Option<u64>,
}

/// The limits as anyone would write them who had one process and one lock.
#[derive(Default)]
struct Simple {
    rows: Vec<Row>,
    places: u64,
    gates: BTreeMap<String, (f64, f64)>,
    tokens: BTreeMap<String, f64>,
}

const BURST: f64 = 3.0;

impl Simple {
    fn queue(&mut self, id: InstanceId, key: &str, weight: f64) {
        let place = Some(self.places);
        self.places += 1;
        self.rows.push(Row { id, key: key.into(), weight, place });
    }

    fn again(&mut self, id: InstanceId) {
        let place = Some(self.places);
        self.places += 1;
        self.leave(id);
        if let Some(row) = self.rows.iter_mut().find(|r| r.id == id) {
            row.place = place;
        }
    }

    /// It gives its slot back.
    fn leave(&mut self, id: InstanceId) {
        let Some(row) = self.rows.iter().find(|r| r.id == id) else { return };
        if let Some(gate) = self.gates.get_mut(&row.key) {
            gate.1 -= 1.0;
        }
    }

    fn claim(&mut self, limit: usize) -> Vec<InstanceId> {
        let mut line: Vec<usize> = (0..self.rows.len()).filter(|at| self.rows[*at].place.is_some()).collect();
        line.sort_by_key(|at| self.rows[*at].place);
        let (mut refused, mut taken) = (HashSet::new(), Vec::new());
        for at in line {
            let (key, weight) = (self.rows[at].key.clone(), self.rows[at].weight);
            if taken.len() == limit || refused.contains(&key) {
                continue;
            }
            let passes = match self.gates.get_mut(&key) {
                Some((capacity, running)) if *running + 1.0 <= *capacity => {
                    *running += 1.0;
                    true
                }
                Some(_) => false,
                None => {
                    let tokens = self.tokens.entry(key.clone()).or_insert(BURST);
                    let enough = *tokens + 0.01 >= weight;
                    *tokens -= if enough { weight } else { 0.0 };
                    enough
                }
            };
            if passes {
                self.rows[at].place = None;
                taken.push(self.rows[at].id);
            } else {
                refused.insert(key);
            }
        }
        taken
    }

    fn pass(&mut self, hours: f64) {
        self.tokens.values_mut().for_each(|t| *t = (*t + hours).min(BURST));
    }
}

struct Play<'d> {
    database: &'d Database,
    store: Arc<dyn Store>,
    simple: Simple,
    running: Vec<Claim>,
    /// Places of the rows that run, by which a crash puts them back.
    places: BTreeMap<InstanceId, u64>,
    claims: u32,
    /// The limits were changed.
    changed: bool,
    trace: Vec<String>,
}

fn gate(capacity: f64, shards: i16) -> LimitDef {
    LimitDef { kind: LimitKind::Gate, name: "g".into(), config: LimitConfig { capacity, rate: 0.0, shards } }
}

fn rate(shards: i16) -> LimitDef {
    let config = LimitConfig { capacity: BURST, rate: 1.0 / 3_600.0, shards };
    LimitDef { kind: LimitKind::Rate, name: "r".into(), config }
}

impl Play<'_> {
    async fn start(&mut self, dice: &mut Dice) {
        let kind = dice.roll(4);
        let key = ["g:a", "g:b", "r:x", "r:y"][usize::try_from(kind).expect("small")];
        let weight = if dice.roll(4) == 0 { 2.0 } else { 1.0 };
        let mut entry = Entry::plain("a", Json::object());
        if kind < 2 {
            entry.concurrency = Some(ConcurrencySlot { key: key.into(), limit: Some(1) });
        } else {
            entry.rate = Some(RateTake { key: key.into(), weight, weight_max: BURST });
        }
        let started = self.store.start(&[StartSpec::plain("m", 1, entry)]).await.expect("starts");
        self.trace.push(format!("start {} {key} {weight}", started[0].id()));
        self.simple.queue(started[0].id(), key, weight);
    }

    async fn claim(&mut self, limit: u32) {
        if self.changed {
            // A slot that a smaller limit withheld comes back with the floor.
            self.settle().await;
        }
        let known =
            Known { machines: vec!["m".into()], versions: vec![1], steps: vec!["a".into()], ..Known::default() };
        self.claims += 1;
        let token = ClaimToken::new(format!("w#{}", self.claims));
        let order = ClaimOrder {
            queue: "default",
            limit,
            token,
            lease: Duration::from_secs(1 << 30),
            known: &known,
            crashed: true,
            limits: true,
            look: false,
        };
        let claimed = self.store.claim(&order).await.expect("claims").claims;
        let places: BTreeMap<InstanceId, u64> =
            self.simple.rows.iter().filter_map(|r| Some((r.id, r.place?))).collect();
        let expected = self.simple.claim(limit as usize);
        let found: Vec<InstanceId> = claimed.iter().map(|c| c.id).collect();
        self.trace.push(format!("claim {limit}: {found:?}"));
        assert_eq!(found, expected, "{}:\n{}", self.database.name(), self.trace.join("\n"));
        self.places.extend(found.iter().map(|id| (*id, places[id])));
        self.running.extend(claimed);
    }

    async fn end(&mut self, dice: &mut Dice) {
        if self.running.is_empty() {
            return;
        }
        let at = usize::try_from(dice.roll(self.running.len() as u64)).expect("small");
        let claim = self.running.swap_remove(at);
        let retries = dice.roll(3) == 0;
        let change = if retries {
            Change::Retry { after: Duration::ZERO, error: None }
        } else {
            Change::Done { result: Json::object(), carry: None }
        };
        self.trace.push(format!("end {}{}", claim.id, if retries { ", again" } else { "" }));
        let commits = self.store.commit(&[Transition::of(&claim, change, vec![])]).await.expect("commits");
        self.store.unblock(&commits.released).await.expect("wakes");
        if retries { self.simple.again(claim.id) } else { self.simple.leave(claim.id) }
    }

    /// All processes die.
    async fn crash(&mut self) {
        self.trace.push("crash".into());
        self.store.reclaim("w", 1_000).await.expect("reclaims");
        for claim in std::mem::take(&mut self.running) {
            self.simple.leave(claim.id);
            let place = self.places[&claim.id];
            if let Some(row) = self.simple.rows.iter_mut().find(|r| r.id == claim.id) {
                row.place = Some(place);
            }
        }
        self.settle().await;
    }

    /// What the floor of an engine does.
    async fn settle(&self) {
        self.store.heal(LimitKind::Gate, "", 100).await.expect("heals");
        let causes = self.store.blocked("", 100).await.expect("looks");
        let keys: Vec<_> = causes.iter().filter_map(|c| Some((c.strip_prefix("key:")?.to_owned(), 100))).collect();
        self.store.unblock(&keys).await.expect("wakes");
    }

    async fn change(&mut self, dice: &mut Dice) {
        let (capacity, shards) = (1.0 + dice.roll(5) as f64, 1 + i16::try_from(dice.roll(3)).expect("small"));
        self.trace.push(format!("gate {capacity} in {shards}"));
        self.changed = true;
        self.store.define_limits(&[gate(capacity, shards)], true).await.expect("sets");
        self.simple.gates.values_mut().for_each(|g| g.0 = capacity);
    }

    async fn pass(&mut self, hours: i64) {
        self.trace.push(format!("{hours} h pass"));
        self.database.shift(hours * HOUR).await;
        self.simple.pass(hours as f64);
    }
}

async fn history(database: &Database, seed: u64) {
    let mut dice = Dice(seed);
    database.reset().await;
    let store = Arc::clone(&database.store);
    store.define_limits(&[gate(2.0, 1), rate(1)], false).await.expect("sets");
    let gates = ["g:a", "g:b"].map(|key| (key.to_owned(), (2.0, 0.0))).into();
    let simple = Simple { gates, ..Simple::default() };
    let trace = vec![format!("GEN_DURABLE_SEED={seed}")];
    let mut play =
        Play { database, store, simple, running: vec![], places: BTreeMap::new(), claims: 0, changed: false, trace };
    let mut crashed = false;
    for _ in 0..STEPS {
        match dice.roll(12) {
            0..=3 => play.start(&mut dice).await,
            4..=6 => play.claim(1 + u32::try_from(dice.roll(6)).expect("small")).await,
            7..=8 => play.end(&mut dice).await,
            9 => play.change(&mut dice).await,
            10 => play.pass(1 + i64::try_from(dice.roll(3)).expect("small")).await,
            // Once: whoever crashes twice runs alone from then on. Gates only: a row under a rate limit that comes back stands
            // behind those to whom tokens are promised.
            _ if !crashed && play.running.iter().all(|c| c.concurrency_key.is_some()) => {
                crashed = true;
                play.crash().await;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn stores_and_a_simple_limiter_agree_after_every_step() {
    let seeds = match std::env::var("GEN_DURABLE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (1..=HISTORIES).map(|n| n * 7_919).collect::<Vec<u64>>(),
    };
    for database in Database::all().await {
        for seed in &seeds {
            history(&database, *seed).await;
        }
    }
}
