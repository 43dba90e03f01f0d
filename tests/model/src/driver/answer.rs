//! One call, asked of the model.

use gen_durable_runtime::{
    model::{Claim, InstanceId, Status},
    store::ClaimOrder,
};

use super::{
    ask::{claimed, known},
    call::{Answer, Call, Standing},
};
use crate::{
    About,
    model::{Model, Sweep},
};

/// The answer, and the claims themselves: a history goes on with them.
pub(super) fn answer(model: &mut Model, call: &Call) -> (Answer, Vec<Claim>) {
    let answer = match call {
        Call::Start(starts) => Answer::Started(model.start(starts)),
        Call::Claim { .. } => return claim(model, call),
        Call::Commit(batch) => Answer::Committed(model.commit(batch)),
        Call::Renew(claims, lease) => {
            let lost = model.renew(claims, *lease);
            let lost = lost.iter().map(|(id, token)| (*id, token.as_str().to_owned())).collect();
            Answer::NotRenewed { busy: vec![], lost }
        }
        Call::RenewOne(id, token, lease) => Answer::Extended(model.renew_one(*id, token, *lease)),
        Call::Signal(signals) => Answer::Delivered(model.signal(signals)),
        Call::EndWaits(limit) => swept(model.end_waits(*limit)),
        Call::Reap(limit) => swept(model.reap(*limit)),
        Call::Reclaim(owner) => swept(model.reclaim(owner)),
        Call::Owners => Answer::Owners(model.owners()),
        Call::Endings(ids) => {
            Answer::Standing(ids.iter().filter_map(|id| Some((*id, standing(model, *id)?))).collect())
        }
        Call::Show(target) => Answer::Shown(model.show(target).map(|(id, shown)| Box::new((id, shown.clone())))),
        // By the ids of each store: see the driver.
        Call::List(_) => Answer::Nothing,
        Call::Children { parent, round, machines, after, limit } => Answer::Children {
            counts: model.child_counts(*parent, *round),
            page: model.children(*parent, *round, machines, *after, *limit),
            kin: [false, true].map(|all| model.kin(*parent, all)).map(|kin| {
                let counts = crate::model::counts(&kin);
                (kin, counts)
            }),
        },
        Call::History(id, skip, limit) => {
            let of = model.lines.iter().map(|(_, line)| line).filter(|line| line.instance == *id);
            Answer::History(of.skip(*skip as usize).take(*limit as usize).cloned().collect())
        }
        Call::Forget(age, limit) => Answer::Forgotten(model.forget(crate::model::micros(*age), *limit)),
        Call::Purge(age, ended) => {
            let (gone, cleared) = model.purge(crate::model::micros(*age), ended);
            Answer::Purged(gone, cleared)
        }
        Call::Shift(micros) => {
            model.shift(*micros);
            Answer::Nothing
        }
        Call::MakeForeign(id) => {
            let row = model.instances.get_mut(id).expect("an instance");
            row.hidden.scope = vec![Status::Runnable, Status::AwaitingSignal, Status::AwaitingChildren];
            row.shown.key_kept = false;
            Answer::Nothing
        }
    };
    (answer, vec![])
}

fn claim(model: &mut Model, call: &Call) -> (Answer, Vec<Claim>) {
    let Call::Claim { queue, limit, token, lease, known: steps, crashed } = call else {
        return (Answer::Nothing, vec![]);
    };
    let known = known(steps);
    let (token, crashed) = (token.clone(), *crashed);
    let order =
        ClaimOrder { queue, limit: *limit, token, lease: *lease, known: &known, crashed, limits: false, look: false };
    let taken = model.claim(&order);
    let mut claims: Vec<_> = taken.claims.iter().map(|c| claimed(c, |id| id, |signal| signal)).collect();
    claims.sort_by_key(|c| c.id);
    let (next_due, next_deadline) = (taken.next_due.map(About), taken.next_deadline.map(About));
    (Answer::Claimed { claims, looked: taken.looked, next_due, next_deadline }, taken.claims)
}

fn swept(Sweep { rows, queues, next }: Sweep) -> Answer {
    Answer::Swept { rows, queues, next: next.map(About) }
}

fn standing(model: &Model, id: InstanceId) -> Option<Standing> {
    let s = model.instances.get(&id)?.shown.clone();
    Some(Standing { machine: s.machine, status: s.status, step: s.step, result: s.result, error: s.error })
}
