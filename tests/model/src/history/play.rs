use std::collections::HashSet;

use gen_durable_runtime::{
    model::{Claim, Committed, InstanceId, Transition},
    store::Filter,
};

use super::{Beside, Ending, Step, pools, resolve};
use crate::{
    HOUR,
    driver::{Answer, Call, Disagreement, Driver},
};

/// What the workers of a history have in hand.
#[derive(Debug, Default)]
struct Hands {
    /// Claims that no outcome was answered for; some are lost by now.
    claims: Vec<Claim>,
    /// The last batch.
    sent: Vec<Transition>,
    tokens: usize,
}

/// Plays a history, step by step; every answer goes to `saw`.
///
/// # Errors
/// Where model and stores part.
pub async fn play(
    driver: &mut Driver<'_>,
    steps: &[Step],
    saw: &mut impl FnMut(&Call, &Answer),
) -> Result<(), Disagreement> {
    let mut hands = Hands::default();
    for step in steps {
        if let Some(call) = hands.resolve(driver, step) {
            let (answer, claims) = driver.step(&call).await?;
            saw(&call, &answer);
            hands.settle(&call, &answer, claims);
        }
    }
    driver.step(&Call::List(Filter::default())).await.map(|_| ())
}

impl Hands {
    /// What is called; `None` when there is nothing to call it with.
    fn resolve(&mut self, driver: &Driver<'_>, step: &Step) -> Option<Call> {
        let model = &driver.model;
        let ids = || model.instances.keys().copied().collect::<Vec<InstanceId>>();
        Some(match step {
            Step::Start(plans) => {
                Call::Start(plans.iter().enumerate().map(|(at, s)| resolve::start(model, at, s)).collect())
            }
            Step::Claim { queue, limit, worker, knows, crashed, lease } => {
                self.tokens += 1;
                let token = resolve::token(worker, self.tokens);
                let (known, lease) = (pools::KNOWN[*knows], resolve::hours(*lease));
                Call::Claim { queue, limit: *limit, token, lease, known, crashed: *crashed }
            }
            Step::Commit(endings) => return self.commit(driver, endings),
            Step::Resend if self.sent.is_empty() => return None,
            Step::Resend => Call::Commit(self.sent.clone()),
            Step::Crash(at) => {
                let at = usize::from(*at).checked_rem(self.claims.len())?;
                self.claims.remove(at);
                return None;
            }
            Step::Renew { lease } => {
                // An instance once: of two claims of one only the newer can stand.
                let mut seen = HashSet::new();
                let once = self.claims.iter().rev().filter(|c| seen.insert(c.id));
                Call::Renew(once.map(|c| (c.id, c.token.clone())).collect(), resolve::hours(*lease))
            }
            Step::RenewOne { claim, lease } => {
                let claim = resolve::pick(&self.claims, *claim)?;
                Call::RenewOne(claim.id, claim.token.clone(), resolve::hours(*lease))
            }
            Step::Signal(plans) => Call::Signal(plans.iter().map(|s| resolve::signal(model, s)).collect()),
            Step::EndWaits(limit) => Call::EndWaits(*limit),
            Step::Reap(limit) => Call::Reap(*limit),
            Step::Reclaim(owner) => Call::Reclaim((*owner).to_owned()),
            Step::Owners => Call::Owners,
            Step::Endings => Call::Endings(ids()),
            Step::Show(whom) => Call::Show(resolve::target(model, whom)),
            Step::List { by, value, before, limit } => Call::List(resolve::filter(model, *by, *value, *before, *limit)),
            Step::Children { of, back, machine, after, limit } => {
                let mut parents: Vec<InstanceId> = model.instances.values().filter_map(|i| i.hidden.parent).collect();
                parents.dedup();
                let parent = *resolve::pick(&parents, *of)?;
                let round = model.instances[&parent].shown.transitions - i64::from(*back);
                let machines = if *machine { &["m"][..] } else { &["n", "m"] };
                Call::Children { parent, round, machines, after: *after, limit: *limit }
            }
            Step::History { of, skip, limit } => Call::History(*resolve::pick(&ids(), *of)?, *skip, *limit),
            // Half an hour beside the hour, where no line was ever written.
            Step::Forget { hours, limit } => Call::Forget(resolve::hours(*hours) + resolve::hours(1) / 2, *limit),
            Step::Purge { hours, which } => {
                let age = resolve::hours(*hours) + resolve::hours(1) / 2;
                Call::Purge(age, resolve::ended(*which))
            }
            Step::Pass(hours) => Call::Shift(i64::from(*hours) * HOUR),
            Step::MakeForeign(at) => {
                let with_key = |id: &InstanceId| model.instances[id].shown.key.is_some();
                Call::MakeForeign(*resolve::pick(&ids().into_iter().filter(with_key).collect::<Vec<_>>(), *at)?)
            }
        })
    }

    /// Each claim once in a batch; an instance may stand in it under two.
    fn commit(&mut self, driver: &Driver<'_>, endings: &[(u8, Ending, Beside)]) -> Option<Call> {
        let mut chosen = HashSet::new();
        let mut batch = vec![];
        for (at, ending, beside) in endings {
            let at = usize::from(*at).checked_rem(self.claims.len())?;
            if chosen.insert(at) {
                let claim = &self.claims[at];
                // Twelve numbers each: its own, its children's, its spawned ones'.
                batch.push(resolve::transition(&driver.model, 12 * batch.len(), claim, ending, beside));
            }
        }
        self.sent = batch.clone();
        Some(Call::Commit(batch))
    }

    fn settle(&mut self, call: &Call, answer: &Answer, claims: Vec<Claim>) {
        self.claims.extend(claims);
        if let (Call::Commit(batch), Answer::Committed(answers)) = (call, answer) {
            for (t, committed) in batch.iter().zip(answers.iter()) {
                self.committed(t, *committed);
            }
        }
    }

    fn committed(&mut self, t: &Transition, committed: Committed) {
        let ours = |c: &Claim| c.id == t.id && c.token == t.token && c.transitions == t.transitions;
        let Some(at) = self.claims.iter().position(ours) else { return };
        match committed {
            Committed::Kept => self.claims[at] = resolve::onward(&self.claims[at], t),
            Committed::Done | Committed::Parked | Committed::Leaves | Committed::ClaimLost => {
                drop(self.claims.remove(at))
            }
            Committed::Busy | Committed::Cancelled => {}
        }
    }
}
