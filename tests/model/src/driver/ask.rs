//! One call, asked of a store: ids there, ids back.

use gen_durable_runtime::{
    Error,
    model::{Child, Claim, ClaimToken, InstanceId, Snapshot, Started, Wake},
    store::{ChildPage, ClaimOrder, Commits, Delivered, Delivery, KinPage, Known, Purge, Store, Swept},
};
use jiff::Timestamp;

use super::{
    call::{Answer, Call, Claimed, Standing, Steps},
    names::Names,
};
use crate::{
    About, Line, Shown,
    database::Database,
    model::{Ended, Kin},
    value,
};

pub(super) async fn ask(
    database: &Database,
    names: &mut Names,
    epoch: Timestamp,
    call: &Call,
    model: &Answer,
) -> Result<Answer, Error> {
    let store = &*database.store;
    Ok(match call {
        Call::Start(starts) => {
            let started = store.start(starts).await?;
            if let Answer::Started(ours) = model {
                names.started(ours, &started);
            }
            Answer::Started(started.into_iter().map(|s| here(names, s)).collect())
        }
        Call::Claim { .. } => claim(store, names, epoch, call).await?,
        Call::Commit(batch) => {
            let batch: Vec<_> = batch.iter().map(|t| names.transition(t)).collect();
            // Whom a key frees is told beside: what wakes is the same.
            Answer::Committed(Commits { released: vec![], ..store.commit(&batch).await? })
        }
        Call::Renew(claims, lease) => {
            let claims: Vec<_> = claims.iter().map(|(id, token)| (names.there(*id), token.clone())).collect();
            let renewed = store.renew(&claims, *lease).await?;
            Answer::NotRenewed { busy: back(names, &renewed.busy), lost: back(names, &renewed.lost) }
        }
        Call::RenewOne(id, token, lease) => Answer::Extended(store.renew_one(names.there(*id), token, *lease).await?),
        Call::Signal(signals) => {
            let signals: Vec<_> = signals.iter().map(|s| names.signal(s)).collect();
            let delivered = store.signal(&signals).await?;
            Answer::Delivered(delivered.into_iter().map(|d| delivery(names, d)).collect())
        }
        Call::EndWaits(limit) => swept(store.end_waits(*limit).await?, epoch),
        Call::Reap(limit) => swept(store.reap(*limit).await?, epoch),
        Call::Reclaim(owner) => swept(store.reclaim(owner, 1_000).await?, epoch),
        Call::Owners => Answer::Owners(store.owners().await?.into_iter().collect()),
        Call::Endings(ids) => {
            let ids: Vec<_> = ids.iter().map(|id| names.there(*id)).collect();
            Answer::Standing(store.endings(&ids).await?.into_iter().map(|s| standing(names, s)).collect())
        }
        Call::Show(target) => {
            let found = store.show(&names.target(target)).await?;
            Answer::Shown(found.map(|s| Box::new((names.here(s.id), Shown::from(&s)))))
        }
        Call::List(filter) => {
            let there = |before: InstanceId| filter.clone().before(names.there(before));
            let page: Vec<Snapshot> = store.list(&filter.before.map_or(filter.clone(), there)).await?;
            Answer::Listed(page.iter().map(|s| names.here(s.id)).collect())
        }
        Call::Children { parent, round, machines, after, limit } => {
            let (parent, round, after, limit) = (names.there(*parent), *round, *after, *limit);
            let counts = store.child_counts(parent, round).await?;
            let page = ChildPage { parent, round, machines, after, limit };
            let page = store.children(&page).await?;
            let kin = [kin(store, names, parent, false, limit).await?, kin(store, names, parent, true, limit).await?];
            Answer::Children {
                kin,
                counts: counts.into_iter().map(|(machine, c)| (machine, [c.started, c.done, c.failed])).collect(),
                page: page.into_iter().map(|c| ended(names, c)).collect(),
            }
        }
        Call::History(id, skip, limit) => {
            let there = names.there(*id);
            // A page begins after a line, whose number is the store's own affair.
            let before = if *skip == 0 { vec![] } else { store.history(there, 0, *skip).await? };
            let lines = store.history(there, before.last().map_or(0, |line| line.id), *limit).await?;
            Answer::History(lines.iter().map(|h| Line::of(*id, h)).collect())
        }
        Call::Forget(age, limit) => Answer::Forgotten(store.forget(*age, *limit).await?),
        Call::Purge(age, ended) => {
            let purge = Purge { age: *age, ended, from: None, look: 10_000, limit: 10_000 };
            let purged = store.purge(&purge).await?;
            Answer::Purged(purged.gone, purged.cleared)
        }
        Call::Shift(micros) => {
            database.shift(*micros).await;
            Answer::Nothing
        }
        Call::MakeForeign(id) => {
            database.make_foreign(names.there(*id)).await;
            Answer::Nothing
        }
    })
}

async fn claim(store: &dyn Store, names: &Names, epoch: Timestamp, call: &Call) -> Result<Answer, Error> {
    let Call::Claim { queue, limit, token, lease, known, crashed } = call else { return Ok(Answer::Nothing) };
    let known = self::known(known);
    let order = ClaimOrder {
        queue,
        limit: *limit,
        token: token.clone(),
        lease: *lease,
        known: &known,
        crashed: *crashed,
        limits: false,
        look: false,
    };
    let came = store.claim(&order).await?;
    let since = |at: Timestamp| About(at.as_microsecond() - epoch.as_microsecond());
    assert_eq!(since(came.now), About(0), "the store's clock is not ours");
    let claims = came.claims.iter().map(|c| claimed(c, |id| names.here(id), |signal| names.signal_here(signal)));
    let mut claims: Vec<Claimed> = claims.collect();
    claims.sort_by_key(|c| c.id);
    let (next_due, next_deadline) = (came.next_due.map(since), came.next_deadline.map(since));
    Ok(Answer::Claimed { claims, looked: came.looked, next_due, next_deadline })
}

/// As a store takes them.
pub(super) fn known(steps: Steps) -> Known {
    let machines = steps.iter().map(|(machine, _, _)| (*machine).to_owned()).collect();
    let versions = steps.iter().map(|(_, version, _)| *version).collect();
    let steps = steps.iter().map(|(_, _, step)| (*step).to_owned()).collect();
    Known { machines, versions, steps, ..Known::default() }
}

/// A claim as it is compared.
pub(super) fn claimed(c: &Claim, here: impl Fn(InstanceId) -> InstanceId, signal: impl Fn(i64) -> i64) -> Claimed {
    let received = |signals: &Vec<gen_durable_runtime::model::ReceivedSignal>| {
        signals.iter().map(|s| (signal(s.id), s.name.clone(), value(&s.payload))).collect()
    };
    Claimed {
        id: here(c.id),
        token: c.token.as_str().into(),
        machine: (c.machine.clone(), c.version, c.step.clone()),
        state: value(&c.state),
        carry: c.carry.as_ref().map(value),
        counts: (c.attempt, c.errors, c.crashes),
        transitions: c.transitions,
        place: (c.queue.clone(), c.priority),
        home: (c.home_queue.clone(), c.home_priority),
        concurrency_key: c.concurrency_key.clone(),
        parent: c.parent.map(|p| (here(p.id), p.round)),
        wake: match &c.wake {
            Wake::Ready => Some(None),
            Wake::Signals(signals) => Some(Some(received(signals))),
            Wake::Unsatisfied => None,
        },
    }
}

/// All of them, a page at a time, and their counts.
async fn kin(
    store: &dyn Store,
    names: &Names,
    parent: InstanceId,
    all_rounds: bool,
    limit: u32,
) -> Result<(Vec<Kin>, [u64; 3]), Error> {
    let mut all: Vec<Child> = vec![];
    loop {
        let page = KinPage { parent, all_rounds, after: all.last(), limit };
        let page = store.kin(&page).await?;
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    let counts = store.kin_counts(parent, all_rounds).await?;
    let read = |c: Child| (names.here(c.id), c.machine, c.status, c.round, c.index.map(i64::from));
    Ok((all.into_iter().map(read).collect(), [counts.started, counts.done, counts.failed]))
}

fn ended(names: &Names, child: gen_durable_runtime::machine::ChildResult) -> Ended {
    (names.here(child.id), i64::from(child.index), child.result.map(|json| value(&json)))
}

fn back(names: &Names, claims: &[(InstanceId, ClaimToken)]) -> Vec<(InstanceId, String)> {
    claims.iter().map(|(id, token)| (names.here(*id), token.as_str().to_owned())).collect()
}

fn here(names: &Names, started: Started) -> Started {
    match started {
        Started::New(id) => Started::New(names.here(id)),
        Started::Duplicate(id) => Started::Duplicate(names.here(id)),
    }
}

fn delivery(names: &Names, d: Delivery) -> Delivery {
    let delivered = match d.delivered {
        Delivered::New(id) => Delivered::New(names.here(id)),
        Delivered::Duplicate(id) => Delivered::Duplicate(names.here(id)),
        Delivered::NoTarget => Delivered::NoTarget,
    };
    Delivery { delivered, ..d }
}

/// The next wait as a moment.
fn swept(swept: Swept, epoch: Timestamp) -> Answer {
    let now = Timestamp::now().as_microsecond() - epoch.as_microsecond();
    let next = swept.next.map(|span| About(now + crate::model::micros(span)));
    Answer::Swept { rows: swept.rows, queues: swept.queues.into_iter().collect(), next }
}

fn standing(names: &Names, s: gen_durable_runtime::store::Standing) -> (InstanceId, Standing) {
    let result = s.result.as_ref().map(value);
    (names.here(s.id), Standing { machine: s.machine, status: s.status, step: s.step, result, error: s.error })
}
