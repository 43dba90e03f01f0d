//! A batch as one JSON parameter: what `unnest` of columns is on Postgres.

use serde::{Serialize, Serializer, ser::SerializeSeq};

use crate::{
    Error, StoreClass,
    model::{Exits, RateTake, StartSpec, Transition, Wait},
    store::{
        lineage::Lineage,
        written::{Written, await_mode, exit_signals, micros, outcome, split},
    },
};

/// A JSON text for `json_each`.
pub(super) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|e| Error::store("encoding a batch", StoreClass::Permanent, e))
}

/// One row of commit.sql.
pub(super) struct CommitRow<'a> {
    pub(super) of: &'a Transition,
    /// Children inserted.
    pub(super) children: i32,
}

impl Serialize for CommitRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (t, w) = (self.of, Written::of(self.of));
        let mut row = serializer.serialize_seq(Some(28))?;
        row.serialize_element(&t.id.get())?;
        row.serialize_element(t.token.as_str())?;
        row.serialize_element(&t.transitions)?;
        row.serialize_element(&w.kind)?;
        for text in [w.step, w.state, w.carry, w.result, w.error] {
            row.serialize_element(&text)?;
        }
        row.serialize_element(&w.after_us)?;
        row.serialize_element(&w.at_us)?;
        row.serialize_element(&w.version)?;
        row.serialize_element(&w.queue)?;
        row.serialize_element(&w.priority)?;
        row.serialize_element(&w.concurrency_key)?;
        row.serialize_element(&w.wait.map(names))?;
        waits(&mut row, w.wait)?;
        row.serialize_element(&self.children)?;
        row.serialize_element(&w.quorum)?;
        row.serialize_element(&i32::from(t.cancels))?;
        row.serialize_element(&i32::from(w.shielded))?;
        exits(&mut row, &t.exits)?;
        row.serialize_element(&i32::from(t.expires))?;
        rate(&mut row, w.rate)?;
        row.end()
    }
}

/// One row of commit_plain.sql.
pub(super) struct PlainRow<'a>(pub(super) &'a Transition);

impl Serialize for PlainRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (t, w) = (self.0, Written::of(self.0));
        let (rate, weight) = (w.rate.map(|rate| rate.key.as_str()), w.rate.map(|rate| rate.weight));
        let (id, token, key) = (t.id.get(), t.token.as_str(), w.concurrency_key);
        (
            id,
            token,
            t.transitions,
            w.kind,
            w.step,
            w.state,
            w.carry,
            w.result,
            w.after_us,
            w.version,
            w.queue,
            w.priority,
            key,
            rate,
            weight,
        )
            .serialize(serializer)
    }
}

/// One row of commit_log.sql.
pub(super) struct HistoryRow<'a> {
    pub(super) of: &'a Transition,
    pub(super) started: i64,
}

impl Serialize for HistoryRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (t, w) = (self.of, Written::of(self.of));
        let stands = i32::from(t.cancels || t.ends());
        (t.id.get(), t.token.as_str(), t.transitions, w.step, outcome(w.kind), w.error, self.started, w.kind, stands)
            .serialize(serializer)
    }
}

/// One row of start.sql, with its id.
pub(super) struct StartRow<'a> {
    pub(super) id: i64,
    pub(super) spec: &'a StartSpec,
    pub(super) lineage: Option<Lineage>,
}

impl Serialize for StartRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, spec: s, lineage } = self;
        let wait = s.entry.wait.as_ref();
        let (wait_us, wait_at_us) = split(s.entry.wait.as_ref().and_then(|w| w.deadline));
        let (timer_us, at_us) = split(s.entry.timer);
        let mut row = serializer.serialize_seq(Some(30))?;
        row.serialize_element(id)?;
        row.serialize_element(s.machine)?;
        row.serialize_element(&s.version)?;
        row.serialize_element(s.entry.step)?;
        row.serialize_element(s.entry.state.as_str())?;
        row.serialize_element(&s.carry.as_ref().map(|c| c.as_str()))?;
        row.serialize_element(&s.key)?;
        row.serialize_element(scope(s))?;
        row.serialize_element(s.first_queue())?;
        row.serialize_element(&s.first_priority())?;
        row.serialize_element(&s.queue)?;
        row.serialize_element(&s.priority)?;
        row.serialize_element(&micros(s.delay).saturating_add(timer_us.unwrap_or(0)))?;
        row.serialize_element(&at_us)?;
        row.serialize_element(&wait.map(names))?;
        row.serialize_element(&wait_us)?;
        row.serialize_element(&wait_at_us)?;
        row.serialize_element(&s.entry.concurrency.as_ref().map(|slot| slot.key.as_str()))?;
        waits(&mut row, wait)?;
        row.serialize_element(&lineage.map(|l| l.parent))?;
        row.serialize_element(&lineage.map(|l| l.round))?;
        row.serialize_element(&lineage.map(|l| l.index))?;
        row.serialize_element(&i32::from(s.entry.shielded))?;
        row.serialize_element(&s.deadline.map(micros))?;
        exits(&mut row, &s.exits)?;
        rate(&mut row, s.entry.rate.as_ref())?;
        row.end()
    }
}

/// The statuses in which a business key is occupied.
fn scope(s: &StartSpec) -> &'static str {
    match (&s.key, s.key_kept) {
        (None, _) => "[]",
        (Some(_), false) => r#"["runnable","executing","awaiting_signal","awaiting_children"]"#,
        (Some(_), true) => r#"["runnable","executing","awaiting_signal","awaiting_children","done","failed"]"#,
    }
}

/// How many of the awaited signals must have come.
fn waits<R: SerializeSeq>(row: &mut R, wait: Option<&Wait>) -> Result<(), R::Error> {
    row.serialize_element(&wait.and_then(await_mode))?;
    row.serialize_element(&wait.map(Wait::need))?;
    row.serialize_element(&wait.map(|w| serde_json::Value::from(w.groups.to_vec()).to_string()))
}

/// The rate limit that admits the step, and what it takes.
fn rate<R: SerializeSeq>(row: &mut R, rate: Option<&RateTake>) -> Result<(), R::Error> {
    row.serialize_element(&rate.map(|rate| rate.key.as_str()))?;
    row.serialize_element(&rate.map(|rate| rate.weight))
}

/// What leaves the step.
fn exits<R: SerializeSeq>(row: &mut R, exits: &Exits) -> Result<(), R::Error> {
    row.serialize_element(&i32::from(exits.expires))?;
    row.serialize_element(&exit_signals(exits).map(|names| serde_json::Value::from(names.to_vec()).to_string()))
}

/// A list inside a row is JSON within JSON, as its column holds it.
fn names(wait: &Wait) -> String {
    serde_json::Value::from(wait.names.to_vec()).to_string()
}
