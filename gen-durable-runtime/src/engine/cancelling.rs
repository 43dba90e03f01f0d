//! Cancelled instances: who is told, and what they become.

use std::{sync::Arc, time::Duration};

use super::{backoff::Backoff, catalog::Served, held::Held, leaving, shared::Shared};
use crate::{
    machine::registry::Exit,
    model::{
        Claim, InstanceId, Transition,
        plan::{self, Rules},
    },
    store::Said,
};

/// How long a cancelled run may go on.
const GRACE: Duration = Duration::from_secs(10);
/// How soon children are asked again that someone else held.
const MISSED: Duration = Duration::from_millis(20);
/// Children told at once.
const PIECE: u32 = 1_000;

impl Shared {
    /// The instance that a wake-up names was cancelled: its run here is told, and dropped after a while.
    pub(super) fn hear_cancel(self: &Arc<Self>, id: InstanceId) {
        if let Some(held) = self.held.get(id) {
            self.cancel_run(held);
        }
    }

    pub(super) fn cancel_run(self: &Arc<Self>, held: Arc<Held>) {
        if !held.cancel() {
            return;
        }
        tracing::info!(claim = held.label(), "cancelled");
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            held.dropped.fire();
        });
    }

    /// What a cancelled instance becomes. Its children are told first: a process that dies in between does both again.
    pub(super) async fn cancelled(&self, served: &Served, claim: &Claim, rules: Rules) -> Transition {
        // A claim that the cancel came before knows whether there are any, whatever code they were started by; a run
        // that it came into may have stood beside some.
        if claim.has_children || !claim.cancelled {
            self.cancel_children(claim.id, None).await;
        }
        leave(served, claim, rules)
    }

    /// Tells the children, of one round or of all, a piece at a time; waits while the database does not answer.
    pub(super) async fn cancel_children(&self, parent: InstanceId, round: Option<i64>) {
        let mut backoff = Backoff::default();
        loop {
            match self.store.cancel_children(parent, round, PIECE).await {
                Ok(told) => {
                    told.queues.iter().for_each(|queue| self.waker.wake(queue));
                    told.executing.iter().for_each(|id| self.waker.notifier.wake(Said::cancel(*id)));
                    if told.rows < PIECE as usize && !told.missed {
                        return;
                    }
                    if told.missed {
                        // Someone is just writing them.
                        tokio::time::sleep(MISSED).await;
                    }
                }
                Err(error) if error.is_transient() => backoff.wait().await,
                Err(error) => return tracing::error!(%error, id = %parent, "its children cannot be cancelled"),
            }
        }
    }
}

/// To its `on_cancel`, or to the end.
fn leave(served: &Served, claim: &Claim, rules: Rules) -> Transition {
    match leaving::exit(served, claim, Exit::Cancel) {
        None => plan::cancelled(claim, None),
        Some(Ok((entry, carry))) => plan::exited(claim, entry, carry, rules)
            .unwrap_or_else(|e| plan::cancelled(claim, Some(&format!("its on_cancel cannot be stored: {e}")))),
        Some(Err(error)) => plan::cancelled(claim, Some(&format!("its on_cancel failed: {error}"))),
    }
}
