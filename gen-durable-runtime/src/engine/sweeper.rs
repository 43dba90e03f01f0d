//! Maintenance: ends waits on time, takes back claims of the dead, renews our own.

use std::{sync::Arc, time::Instant};

use super::{identity, shared::Shared};
use crate::{Error, store::Swept};

/// Rows a sweep changes at once.
const PIECE: u32 = 1_000;
/// Leases renewed at once.
const RENEWALS: usize = 1_000;

impl Shared {
    /// Ends waits whose time is up, when it is up.
    pub(super) async fn end_waits_on_time(self: Arc<Self>) {
        while !self.is_stopped() {
            self.bells.deadlines.wait(std::time::Duration::from_secs(3_600)).await;
            if self.is_stopped() {
                return;
            }
            match self.store.end_waits(PIECE).await {
                Ok(swept) => {
                    if swept.rows == PIECE as usize {
                        self.bells.deadlines.ring();
                    }
                    self.wake_swept(&swept);
                }
                Err(error) => {
                    tracing::warn!(%error, "ending waits failed, trying again");
                    self.bells.deadlines.ring_in(self.config.poll);
                }
            }
        }
    }

    /// Takes back claims whose lease ended.
    pub(super) async fn reap_the_dead(self: Arc<Self>) {
        while !self.is_stopped() {
            match self.store.reap(PIECE).await {
                Ok(swept) => {
                    self.note_reaped(&swept);
                    if swept.rows == PIECE as usize {
                        continue;
                    }
                }
                Err(error) => tracing::warn!(%error, "reaping failed, trying again"),
            }
            tokio::time::sleep(self.config.sweep).await;
        }
    }

    /// Gives back at once the claims of processes that are proven dead, before their lease ends.
    pub(super) async fn reclaim_at_boot(self: Arc<Self>) {
        if let Err(error) = self.reclaim().await {
            tracing::warn!(%error, "claims of dead processes are left to their lease");
        }
    }

    async fn reclaim(&self) -> Result<(), Error> {
        let owners = self.store.owners().await?;
        for owner in owners.iter().filter(|owner| identity::is_dead(owner)) {
            loop {
                let swept = self.store.reclaim(owner, PIECE).await?;
                self.note_reaped(&swept);
                if swept.rows < PIECE as usize {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Renews what this process holds; a claim that is lost is dropped.
    pub(super) async fn renew_leases(self: Arc<Self>) {
        let every = self.config.renew_every();
        while !self.is_stopped() {
            tokio::time::sleep(every / 4).await;
            let due = self.held.due(every);
            for piece in due.chunks(RENEWALS) {
                let at = Instant::now();
                match self.store.renew(piece, self.config.lease).await {
                    Ok(lost) => {
                        self.held.renewed(piece, at);
                        lost.into_iter().for_each(|id| self.drop_lost(id, piece));
                    }
                    // The claim may still stand, and the fence decides: healthy work is not killed for an outage.
                    Err(error) => tracing::warn!(%error, claims = piece.len(), "renewing leases failed, trying again"),
                }
            }
        }
    }

    fn drop_lost(&self, id: crate::model::InstanceId, piece: &[(crate::model::InstanceId, crate::model::ClaimToken)]) {
        let Some(held) = self.held.get(id) else { return };
        // It may have been committed and claimed again since the renewal was sent.
        if piece.iter().any(|(renewed, token)| *renewed == id && *token == held.token) {
            tracing::warn!(claim = held.label(), "claim lost, its run is dropped");
            held.cancel.fire();
            held.dropped.fire();
        }
    }

    fn note_reaped(&self, swept: &Swept) {
        if swept.rows > 0 {
            tracing::info!(claims = swept.rows, "took back claims of dead workers");
            self.stats.reaped(swept.rows);
        }
        self.wake_swept(swept);
    }

    fn wake_swept(&self, swept: &Swept) {
        swept.queues.iter().for_each(|queue| self.wake(queue));
    }
}
