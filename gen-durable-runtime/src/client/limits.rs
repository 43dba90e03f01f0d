//! Limits as they stand, and what an operator may say of them.

use serde::Serialize;

use super::Client;
use crate::{
    Error,
    machine::{ConcurrencyKey, NamedLimit, RateLimit, linked_limits, rate_config},
    model::{
        Invalid, LimitTerms,
        admission::{LimitConfig, LimitKind},
        did_you_mean,
    },
    store::{LimitDef, StoredLimit},
};

/// Keys that are shown of a limit.
const BUSIEST: u32 = 5;

/// A limit as it stands in the database at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LimitSnapshot {
    /// Of a rate limit or of a concurrency key: `rate` or `gate`.
    pub kind: &'static str,
    /// Stored name.
    pub name: String,
    /// How many execute at once for one key; of a gate.
    pub slots: Option<f64>,
    /// The size of a key's bucket; of a rate limit.
    pub burst: Option<f64>,
    /// Tokens a second that come back to it; of a rate limit.
    pub per_second: Option<f64>,
    /// Counter rows a key.
    pub shards: i16,
    /// Who said so.
    pub set_by: SetBy,
    /// A machine linked into this program names it.
    pub in_code: bool,
    /// Rows that wait for it, counted up to 10,000.
    pub waiting: u64,
    /// The keys of which most is taken, the busiest first.
    pub keys: Vec<KeySnapshot>,
}

/// Who said what a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SetBy {
    /// Its type, or the builder of a worker.
    Code,
    /// An operator: no boot changes it.
    Operator,
}

/// How much of one key of a limit is taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KeySnapshot {
    /// The stored key: the limit's name and the parts.
    pub key: String,
    /// Slots in use, or tokens that are gone and have not come back yet.
    pub used: f64,
    /// What comes back before anything may be taken: a debt of charges, or what runs above a limit that was made smaller.
    pub owed: f64,
    /// Rows that wait for this key, counted up to 10,000.
    pub waiting: u64,
}

/// One limit, to look at and to change: made by [`Client::rate_limit`], [`Client::gate`] and [`Client::limit`].
#[derive(Debug, Clone)]
pub struct Limit {
    client: Client,
    kind: LimitKind,
    name: String,
    code: LimitConfig,
    weights: Vec<(u32, String)>,
}

impl Client {
    /// All limits that a worker has made known or an operator has set, by kind and name, with the busiest keys and who waits. It walks
    /// the counters of keys in use (up to 100,000), and counts up to 10,000 waiting rows a limit: for a person who asks, not for a
    /// loop.
    ///
    /// # Errors
    /// The store's.
    pub async fn limits(&self) -> Result<Vec<LimitSnapshot>, Error> {
        let linked = linked_limits();
        let limits = self.0.store.limits(BUSIEST).await?;
        let is_linked = |l: &StoredLimit| linked.keys().any(|(kind, name)| *kind == l.def.kind && *name == l.def.name);
        Ok(limits.into_iter().map(|limit| (is_linked(&limit), limit)).map(snapshot).collect())
    }

    /// The rate limit `L`.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use gen_durable_runtime::{client::Client, machine::RateLimit, model::LimitTerms};
    /// # async fn run<Carrier: RateLimit>(client: Client) -> Result<(), gen_durable_runtime::Error> {
    /// // The carrier has a bad day.
    /// client.rate_limit::<Carrier>().set(LimitTerms::rate(10, Duration::from_secs(60)).burst(5)).await?;
    /// // And recovers.
    /// client.rate_limit::<Carrier>().reset().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rate_limit<L: RateLimit>(&self) -> Limit {
        let linked = linked_limits().remove(&(LimitKind::Rate, L::NAME));
        let weights = linked.map(|limit| limit.weights).unwrap_or_default();
        let (client, name) = (self.clone(), L::NAME.to_owned());
        Limit { client, kind: LimitKind::Rate, name, code: rate_config::<L>(), weights }
    }

    /// The limit of concurrency key `K`.
    ///
    /// # Errors
    /// Invalid when `K` has no limit: one executes at a time, by a unique index, and nobody can change that.
    pub fn gate<K: ConcurrencyKey>(&self) -> Result<Limit, Error> {
        let limit = K::LIMIT.ok_or_else(|| unlimited(K::NAME))?;
        let shards = i16::try_from(K::SHARDS).unwrap_or(i16::MAX);
        let code = LimitConfig { capacity: f64::from(limit), rate: 0.0, shards };
        let (client, name) = (self.clone(), K::NAME.to_owned());
        Ok(Limit { client, kind: LimitKind::Gate, name, code, weights: vec![] })
    }

    /// The limit with this stored name, among those that machines linked into this program name; of two with one name the one of
    /// this kind.
    ///
    /// # Errors
    /// Invalid when there is none, or there are two and no kind is said; the text proposes the name that was meant.
    pub fn limit(&self, name: &str, kind: Option<LimitKind>) -> Result<Limit, Error> {
        let linked = linked_limits();
        let named: Vec<_> = linked.iter().filter(|((_, n), _)| *n == name).collect();
        let mut fit = named.iter().filter(|((k, _), _)| kind.is_none_or(|kind| kind == *k));
        match (fit.next(), fit.next(), named.first()) {
            (Some(((kind, _), limit)), None, _) => self.limit_of(*kind, name, limit),
            (Some(_), Some(_), _) => Err(invalid(format!("`{name}` is a gate and a rate limit: say which"))),
            (None, _, Some(((LimitKind::Gate, _), _))) => {
                Err(invalid(format!("`{name}` is a gate: it has slots, neither a rate nor a burst")))
            }
            (None, _, Some(((LimitKind::Rate, _), _))) => {
                Err(invalid(format!("`{name}` is a rate limit: say how many it allows in which time, not its slots")))
            }
            (None, _, None) => {
                let hint = did_you_mean(name, linked.keys().map(|(_, name)| *name));
                Err(invalid(format!("`{name}` is named by no machine of this program{hint}")))
            }
        }
    }

    fn limit_of(&self, kind: LimitKind, name: &str, limit: &NamedLimit) -> Result<Limit, Error> {
        let code = limit.config.ok_or_else(|| unlimited(name))?;
        Ok(Limit { client: self.clone(), kind, name: name.to_owned(), code, weights: limit.weights.clone() })
    }
}

impl Limit {
    /// How it stands; `None` while no worker has made it known and no operator has set it.
    ///
    /// # Errors
    /// The store's.
    pub async fn show(&self) -> Result<Option<LimitSnapshot>, Error> {
        let found = self.client.limits().await?.into_iter();
        Ok(found.into_iter().find(|limit| limit.kind == kind_name(self.kind) && limit.name == self.name))
    }

    /// Says what it allows from now on, for all workers and until [`Limit::reset`]: no boot changes it. What is not said stays as
    /// it stands. What runs goes on; where the limit was made smaller nothing begins until it is kept, where it was made larger
    /// whoever may begin is woken at once.
    ///
    /// # Errors
    /// Invalid, in a sentence that says what would do: terms of the other kind, a zero, or a burst and shards under which a step
    /// linked into this program could never pass. Or the store's.
    pub async fn set(&self, terms: LimitTerms) -> Result<(), Error> {
        let stands = self.client.0.store.limits(0).await?;
        let stands = stands.into_iter().find(|limit| limit.def.kind == self.kind && limit.def.name == self.name);
        let config = terms.over(self.kind, stands.map_or(self.code, |limit| limit.def.config), &self.weights)?;
        let woken = self.client.0.store.define_limits(&[self.def(config)], true).await?;
        self.wake(woken);
        Ok(())
    }

    /// Makes it again what its type says. What the builder of a worker says counts from the next boot of one on.
    ///
    /// # Errors
    /// The store's.
    pub async fn reset(&self) -> Result<(), Error> {
        let woken = self.client.0.store.reset_limits(&[self.def(self.code)]).await?;
        self.wake(woken);
        Ok(())
    }

    fn def(&self, config: LimitConfig) -> LimitDef {
        LimitDef { kind: self.kind, name: self.name.clone(), config }
    }

    fn wake(&self, queues: impl IntoIterator<Item = String>) {
        queues.into_iter().for_each(|queue| self.client.0.notifier.wake(queue));
    }
}

fn kind_name(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Gate => "gate",
        LimitKind::Rate => "rate",
    }
}

fn snapshot((in_code, limit): (bool, StoredLimit)) -> LimitSnapshot {
    let StoredLimit { def: LimitDef { kind, name, config }, by_operator, waiting, keys } = limit;
    let of = |this, value| (kind == this).then_some(value);
    LimitSnapshot {
        kind: kind_name(kind),
        name,
        slots: of(LimitKind::Gate, config.capacity),
        burst: of(LimitKind::Rate, config.capacity),
        per_second: of(LimitKind::Rate, config.rate),
        shards: config.shards,
        set_by: if by_operator { SetBy::Operator } else { SetBy::Code },
        in_code,
        waiting,
        keys: keys
            .into_iter()
            .map(|k| KeySnapshot { key: k.key, used: k.used, owed: k.owed, waiting: k.waiting })
            .collect(),
    }
}

fn invalid(text: String) -> Error {
    Invalid::new("the limit", text).into()
}

fn unlimited(name: &str) -> Error {
    invalid(format!("`{name}` is a key of which one executes at a time, by an index: give its type a `limit` first"))
}
