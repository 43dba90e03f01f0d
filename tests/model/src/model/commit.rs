use std::collections::BTreeSet;

use gen_durable_runtime::{
    model::{Advance, Change, ClaimToken, Committed, Deadline, Exits, InstanceId, Join, Status, Transition},
    store::Commits,
};

use super::{KEY_TAKEN, Model, micros, start::awaits};
use crate::{Line, value};

impl Model {
    /// Starts what those start that pass the fence, and writes them; then consumes, signals and tells the parents for
    /// what was written; then says how the others stand.
    pub fn commit(&mut self, batch: &[Transition]) -> Commits {
        let passes =
            |t: &&Transition| self.holds(t.id, &t.token) && self.instances[&t.id].shown.transitions == t.transitions;
        let standing: Vec<bool> = batch.iter().map(|t| passes(&t)).collect();
        let landed: Vec<&Transition> = batch.iter().zip(&standing).filter(|(_, s)| **s).map(|(t, _)| t).collect();
        let consumed: Vec<i64> = landed.iter().flat_map(|t| t.consumed.iter().copied()).collect();
        let mut wakes = BTreeSet::new();
        let children = self.beget(&landed, &mut wakes);
        for (t, children) in landed.iter().zip(children) {
            self.log(t, |model| model.apply(t, &consumed, children));
        }
        let wrote: Vec<Option<Committed>> =
            batch.iter().zip(&standing).map(|(t, s)| s.then(|| self.wrote(t.id))).collect();
        landed.iter().for_each(|t| self.consume(t));
        self.tell_others(&landed, &mut wakes);
        self.tell_parents(&landed, &mut wakes);
        let answers = batch.iter().zip(wrote).map(|(t, wrote)| wrote.unwrap_or_else(|| self.missed(t))).collect();
        Commits { answers, wakes, released: vec![] }
    }

    /// A line of history says what was tried and where; one that lost its business key meanwhile failed.
    fn log(&mut self, t: &Transition, write: impl FnOnce(&mut Self) -> bool) {
        let before = self.instances[&t.id].shown.clone();
        let key_taken = write(self);
        let Some(started) = t.started else { return };
        let (outcome, to) = match &t.change {
            _ if key_taken => ("failed", None),
            Change::Advance(a) if a.entry.wait.is_some() => ("wait", Some(a.entry.step)),
            Change::Advance(a) if a.entry.join.is_some() => ("fan_out", Some(a.entry.step)),
            Change::Advance(a) => ("goto", Some(a.entry.step)),
            Change::Retry { .. } => ("retry", None),
            Change::Done { .. } => ("done", None),
            Change::Fail { .. } | Change::Repark | Change::Release => ("failed", None),
        };
        let line = Line {
            instance: t.id,
            visit: before.transitions,
            from: before.step,
            to: to.map(str::to_owned),
            outcome: outcome.to_owned(),
            attempt: before.attempt,
            worker: before.token,
            started: started.as_microsecond(),
            error: self.instances[&t.id].shown.error.clone(),
        };
        let now = self.tick();
        self.lines.push((now, line));
    }

    /// Whether it failed because its business key has a newer occupant.
    fn apply(&mut self, t: &Transition, consumed: &[i64], children: i64) -> bool {
        let now = self.tick();
        let key_taken = self.key_taken(t.id);
        match &t.change {
            Change::Advance(a) => self.advance(t.id, a, consumed, children, now),
            Change::Retry { after, error } => self.retry(t.id, micros(*after), error.clone(), now),
            Change::Done { result, carry } => {
                let (row, at) = self.row(t.id);
                (row.shown.status, row.shown.result) = (Status::Done, Some(value(result)));
                row.shown.carry = carry.as_ref().map(value).or(row.shown.carry.take());
                (row.shown.error, row.shown.crashes, row.hidden.received) = (None, 0, None);
                row.shown.transitions += 1;
                row.shown.awaits.clear();
                row.hidden.pending = 0;
                (at.deadline, at.eligible) = (None, now);
            }
            // The visit stays as it was, with its wait and what it received: for a later retry.
            Change::Fail { reason, carry } => {
                let (row, at) = self.row(t.id);
                (row.shown.status, row.shown.error) = (Status::Failed, Some(reason.clone()));
                row.shown.carry = carry.as_ref().map(value).or(row.shown.carry.take());
                row.hidden.pending = 0;
                at.eligible = now;
            }
            Change::Repark => self.park(t.id, consumed, now),
            Change::Release => self.row(t.id).0.shown.status = Status::Runnable,
        }
        let stays = matches!(&t.change, Change::Advance(a) if a.in_place && !a.entry.waits());
        let (row, at) = self.row(t.id);
        if !stays {
            (at.lease, at.updated) = (None, now);
        }
        let fails = key_taken && !row.shown.status.is_ended() && !stays;
        if fails {
            (row.shown.status, row.shown.error) = (Status::Failed, Some(KEY_TAKEN.into()));
        }
        fails
    }

    /// On to a step: a new visit, with nothing of the old one but the queue, in place, and the moment it is due.
    fn advance(&mut self, id: InstanceId, a: &Advance, consumed: &[i64], children: i64, now: i64) {
        let (row, _) = self.row(id);
        (row.shown.version, row.shown.step, row.shown.state) = (a.version, a.entry.step.into(), value(&a.entry.state));
        row.shown.carry = a.carry.as_ref().map(value).or(row.shown.carry.take());
        (row.shown.error, row.shown.awaits) = (a.error.clone(), awaits(&a.entry));
        (row.shown.attempt, row.hidden.errors, row.shown.crashes) = (0, 0, 0);
        row.shown.transitions += 1;
        (row.hidden.received, row.hidden.pending) = (None, 0);
        row.hidden.concurrency_key = a.entry.concurrency.as_ref().map(|slot| slot.key.clone());
        if let Some(wait) = &a.entry.wait {
            self.move_to(id, a);
            let deadline = wait.deadline.map(|d| self.at(d, now));
            self.row(id).1.deadline = deadline;
            self.waits.insert(id, wait.clone());
            return self.park(id, consumed, now);
        }
        if let Some(join) = &a.entry.join {
            self.move_to(id, a);
            return self.join(id, join, children, now);
        }
        self.row(id).1.deadline = None;
        if !a.in_place {
            self.move_to(id, a);
            let due = self.at(a.entry.timer.unwrap_or(Deadline::After(a.delay)), now).max(now);
            let (row, at) = self.row(id);
            (row.shown.status, at.eligible) = (Status::Runnable, due);
        }
    }

    /// Waits for its children; runs at once without any, or with too few for its quorum.
    fn join(&mut self, id: InstanceId, join: &Join, children: i64, now: i64) {
        let deadline = join.deadline.map(|d| self.at(d, now));
        match join.quorum {
            Some(quorum) => self.quorums.insert(id, i64::from(quorum)),
            None => self.quorums.remove(&id),
        };
        let need = join.quorum.map_or(1, i64::from);
        let waits = need > 0 && children >= need;
        let (row, at) = self.row(id);
        (row.hidden.pending, row.hidden.ended_well) = (children, 0);
        row.shown.status = if waits { Status::AwaitingChildren } else { Status::Runnable };
        (at.deadline, at.eligible) = (deadline, now);
        self.note(match (waits, children) {
            (true, _) => "a join waits",
            (false, 0) => "a join without children",
            (false, _) if need == 0 => "a join that needs nobody",
            (false, _) => "a join whose quorum is out of reach at once",
        });
    }

    fn move_to(&mut self, id: InstanceId, a: &Advance) {
        let (row, _) = self.row(id);
        (row.shown.queue, row.shown.priority) = (a.queue.clone(), a.priority);
    }

    /// Parks, unless what it waits for has come, or its time is up.
    fn park(&mut self, id: InstanceId, consumed: &[i64], now: i64) {
        let is_up = self.moments[&id].deadline.is_some_and(|d| d <= now);
        let has_come = self.has_come(id, consumed);
        let (row, at) = self.row(id);
        row.shown.status = if is_up || has_come { Status::Runnable } else { Status::AwaitingSignal };
        row.hidden.received = None;
        at.eligible = now;
    }

    fn retry(&mut self, id: InstanceId, after: i64, error: Option<String>, now: i64) {
        let (row, at) = self.row(id);
        row.shown.status = Status::Runnable;
        row.shown.attempt += 1;
        row.hidden.errors += u32::from(error.is_some());
        row.shown.error = error;
        at.eligible = now + after;
    }

    fn wrote(&self, id: InstanceId) -> Committed {
        match self.instances[&id].shown.status {
            Status::Executing => Committed::Kept,
            Status::AwaitingSignal | Status::AwaitingChildren => Committed::Parked,
            Status::Runnable | Status::Done | Status::Failed => Committed::Done,
        }
    }

    /// A consumed signal whose dedup key must protect stays, emptied; a machine that is done needs none.
    fn consume(&mut self, t: &Transition) {
        let ends = matches!(t.change, Change::Done { .. }) && t.may_have_signals;
        self.letters.retain(|id, l| {
            let taken = t.consumed.contains(id);
            let goes = (ends && l.target == t.id) || (taken && l.dedup.is_none());
            if taken && !goes {
                (l.consumed, l.payload) = (true, serde_json::json!({}));
            }
            !goes
        });
    }

    /// What did not pass the fence: either it landed before and its answer was lost, or its claim is.
    fn missed(&self, t: &Transition) -> Committed {
        let Some(i) = self.instances.get(&t.id) else { return Committed::ClaimLost };
        if i.shown.token.as_deref() != Some(t.token.as_str()) {
            return Committed::ClaimLost;
        }
        let executes = i.shown.status == Status::Executing;
        if i.shown.transitions == t.transitions + 1 {
            let kept = executes && matches!(&t.change, Change::Advance(a) if a.in_place);
            return if kept { Committed::Kept } else { Committed::Done };
        }
        let stands = i.shown.transitions == t.transitions && !executes;
        let landed = stands
            && match t.change {
                Change::Fail { .. } => i.shown.status == Status::Failed,
                Change::Retry { .. } => i.shown.attempt == t.attempt + 1,
                Change::Release | Change::Repark => true,
                Change::Advance(_) | Change::Done { .. } => false,
            };
        if landed { Committed::Done } else { Committed::ClaimLost }
    }
}

/// An end by a claim that stands.
pub(super) fn failure(id: InstanceId, (token, transitions): (String, i64), reason: &str) -> Transition {
    Transition {
        id,
        token: ClaimToken::new(token),
        transitions,
        attempt: 0,
        change: Change::Fail { reason: reason.into(), carry: None },
        consumed: vec![],
        may_have_signals: false,
        parent: None,
        effects: None,
        started: None,
        cancels: false,
        held: None,
        may_hold: false,
        expires: false,
        exits: Exits::default(),
    }
}
