//! Maintenance: ends waits on time, takes back claims of the dead, renews our own.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use super::{identity, shared::Shared};
use crate::{
    Error,
    model::{ClaimToken, InstanceId},
    store::Swept,
};

/// Rows a sweep changes at once.
const PIECE: u32 = 1_000;
/// How often the next deadline is looked for, should nothing have told it.
const LOOK: Duration = Duration::from_secs(5);
/// The shortest time between two looks at deadlines.
const SHORTEST: Duration = Duration::from_millis(1);
/// How often old history is looked for.
const FORGET: Duration = Duration::from_secs(60);
/// Leases renewed at once.
const RENEWALS: usize = 1_000;

impl Shared {
    /// Ends waits whose time is up, when it is up.
    pub(super) async fn end_waits_on_time(self: Arc<Self>) {
        while !self.is_stopped() {
            self.waker.bells.deadlines.wait(LOOK).await;
            if self.is_stopped() {
                return;
            }
            match self.store.end_waits(PIECE).await {
                Ok(swept) => {
                    if swept.rows == PIECE as usize {
                        self.waker.bells.deadlines.ring();
                    }
                    // Each look finds the next moment by itself: the bell holds only one.
                    if let Some(next) = swept.next {
                        self.waker.bells.deadlines.ring_in(next.max(SHORTEST));
                    }
                    if swept.schedules && !self.some_schedules.load(Ordering::Acquire) {
                        self.waker.bells.schedules.ring();
                    }
                    self.wake_swept(&swept);
                }
                Err(error) => {
                    tracing::warn!(%error, "ending waits failed, trying again");
                    self.waker.bells.deadlines.ring_in(self.config.poll);
                }
            }
        }
    }

    /// Takes back claims whose lease ended.
    pub(super) async fn reap_the_dead(self: Arc<Self>) {
        let (mut was_away, mut reaped) = (false, false);
        while !self.is_stopped() {
            // After an outage our own claims would be the first to be taken, and so while a renewal waits in a longer line.
            let overdue = !self.held.due(self.config.lease / 2).is_empty();
            if (was_away || overdue) && self.renew(Duration::ZERO).await.is_err() {
                tokio::time::sleep(self.config.sweep).await;
                continue;
            }
            match self.store.reap(PIECE).await {
                Ok(swept) => {
                    was_away = false;
                    self.note_reaped(&swept);
                    reaped |= swept.rows > 0;
                    if swept.rows == PIECE as usize {
                        continue;
                    }
                    if std::mem::take(&mut reaped) {
                        self.heal_and_wake().await;
                    }
                }
                Err(error) => {
                    was_away = true;
                    tracing::warn!(%error, "reaping failed, trying again");
                }
            }
            tokio::time::sleep(self.config.sweep).await;
        }
    }

    /// Forgets history that is old enough, a piece at a time.
    pub(super) async fn forget_history(self: Arc<Self>) {
        while !self.is_stopped() {
            let began = Instant::now();
            let more = match self.store.forget(self.config.history, PIECE).await {
                Ok(forgotten) => forgotten == PIECE as usize,
                Err(error) => {
                    tracing::debug!(%error, "forgetting history failed");
                    false
                }
            };
            // Others come to write between two pieces, which take half of the time: runs leave lines faster than one piece a sweep.
            tokio::time::sleep(if more { began.elapsed().max(SHORTEST) } else { FORGET }).await;
        }
    }

    /// Gives back at once the claims of processes that are proven dead, before their lease ends.
    pub(super) async fn reclaim_at_boot(self: Arc<Self>) {
        if let Err(error) = self.reclaim().await {
            tracing::warn!(%error, "claims of dead processes are left to their lease");
        }
    }

    async fn reclaim(&self) -> Result<(), Error> {
        let (owners, mut reclaimed) = (self.store.owners().await?, false);
        for owner in owners.iter().filter(|owner| identity::is_dead(owner)) {
            loop {
                let swept = self.store.reclaim(owner, PIECE).await?;
                self.note_reaped(&swept);
                reclaimed |= swept.rows > 0;
                if swept.rows < PIECE as usize {
                    break;
                }
            }
        }
        if reclaimed {
            self.heal_and_wake().await;
        }
        Ok(())
    }

    /// Renews what this process holds; a claim that is lost is dropped.
    pub(super) async fn renew_leases(self: Arc<Self>) {
        let every = self.config.renew_every();
        while !self.is_stopped() {
            tokio::time::sleep(every / 4).await;
            // The claims may still stand, and the fence decides: healthy work is not killed for an outage.
            if let Err(error) = self.renew(every).await {
                tracing::warn!(%error, "renewing leases failed, trying again");
            }
        }
    }

    /// Renews the leases that are at least this old.
    async fn renew(self: &Arc<Self>, age: Duration) -> Result<(), Error> {
        for piece in self.held.due(age).chunks(RENEWALS) {
            let at = Instant::now();
            let renewed = self.store.renew(piece, self.config.lease).await?;
            for held in renewed.cancelled.iter().filter_map(|id| self.held.get(*id)) {
                self.cancel_run(held);
            }
            renewed.lost.iter().for_each(|(id, token)| self.drop_lost(*id, token));
            let missed = [&renewed.busy[..], &renewed.lost[..]].concat();
            self.held.renewed(piece.iter().filter(|claim| !missed.contains(claim)), at);
            for (id, token) in renewed.busy {
                tokio::spawn(Arc::clone(self).renew_in_line(id, token));
            }
        }
        Ok(())
    }

    /// A caller's transaction holds the row: waits in its line, which a reaper does not. At most two rows at once, for
    /// each takes a connection.
    async fn renew_in_line(self: Arc<Self>, id: InstanceId, token: ClaimToken) {
        let Ok(_place) = self.renewals_in_line.try_acquire() else { return };
        let Some(held) = self.held.get(id).filter(|held| held.token == token) else { return };
        let Some(_waiting) = held.wait_in_line() else { return };
        match self.store.renew_one(id, &token, self.config.lease).await {
            Ok(true) => self.held.renewed([&(id, token)].into_iter(), Instant::now()),
            Ok(false) => self.drop_lost(id, &token),
            Err(error) => tracing::debug!(%error, "a lease waits for its row"),
        }
    }

    fn drop_lost(&self, id: InstanceId, token: &ClaimToken) {
        // It may have been committed and claimed again since the renewal was sent.
        let Some(held) = self.held.get(id).filter(|held| held.token == *token) else { return };
        tracing::warn!(claim = held.label(), "claim lost, its run is dropped");
        held.end();
    }

    fn note_reaped(&self, swept: &Swept) {
        if swept.rows > 0 {
            tracing::info!(claims = swept.rows, "took back claims of dead workers");
            self.stats.reaped(swept.rows);
            // Everything a dead process held may be more than this one has places for.
            swept.queues.iter().for_each(|queue| self.waker.notifier.wake(queue));
        }
        self.wake_swept(swept);
    }

    fn wake_swept(&self, swept: &Swept) {
        swept.queues.iter().for_each(|queue| self.waker.wake(queue));
    }
}
