//! Says that this worker lives and what it knows. Rows that no live worker knows are set aside, so that they hide nothing, and
//! wake when one comes that does.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{backoff::Backoff, identity, shared::Shared};
use crate::{
    Error,
    store::{CODE, CROWD, WorkerEntry, codes},
};

/// How often the heads of the queues are looked at, should no claim have told, and what was set aside.
const LOOK: Duration = Duration::from_secs(60);
/// The shortest pause between two looks.
const SHORTEST: Duration = Duration::from_millis(500);
/// Rows at once.
const PIECE: u32 = 2_000;

impl Shared {
    pub(super) async fn keep_presence(self: Arc<Self>) {
        let queues = self.config.queues.keys().cloned().collect();
        let codes = codes(self.catalog.known());
        let entry = WorkerEntry { name: self.identity.name().to_owned(), queues, codes };
        let mut backoff = Backoff::default();
        while let Err(error) = self.store.put_worker(&entry).await {
            tracing::debug!(%error, "saying that this worker lives failed, trying again");
            backoff.wait().await;
        }
        // Looks begin after it was said what is known: whoever sets that aside meanwhile is met by the next one.
        tokio::join!(self.say_on(&entry), self.look_on(&entry));
    }

    /// It has stopped: nobody waits for it.
    pub(super) async fn end_presence(&self) -> Result<(), Error> {
        self.store.remove_worker(self.identity.name()).await
    }

    async fn say_on(&self, entry: &WorkerEntry) {
        while !self.is_stopped() {
            if let Err(error) = self.say(entry).await {
                tracing::debug!(%error, "saying that this worker lives failed, trying again");
            }
            tokio::time::sleep(self.store.seen_every()).await;
        }
    }

    async fn say(&self, entry: &WorkerEntry) -> Result<(), Error> {
        if !self.store.see_worker(&entry.name).await? {
            self.store.put_worker(entry).await?;
        }
        self.remove_the_dead().await
    }

    async fn look_on(&self, entry: &WorkerEntry) {
        while !self.is_stopped() {
            if let Err(error) = self.look_around(entry).await {
                tracing::debug!(%error, "looking for rows of unknown code failed, trying again");
            }
            tokio::time::sleep(SHORTEST).await;
            self.waker.bells.strangers.wait(LOOK).await;
        }
    }

    async fn look_around(&self, entry: &WorkerEntry) -> Result<(), Error> {
        self.wake_known(&entry.codes).await?;
        for queue in &entry.queues {
            self.set_strangers_aside(queue).await?;
        }
        Ok(())
    }

    /// Those that are proven dead need not be missed for long.
    async fn remove_the_dead(&self) -> Result<(), Error> {
        for worker in self.store.workers().await?.iter().filter(|w| identity::is_dead(&w.name)) {
            self.store.remove_worker(&worker.name).await?;
        }
        Ok(())
    }

    async fn set_strangers_aside(&self, queue: &str) -> Result<(), Error> {
        let (mut rows, mut of) = (0, BTreeSet::new());
        loop {
            let strangers = self.store.strangers(queue, self.catalog.known(), PIECE).await?;
            let few = strangers.len() < CROWD as usize;
            let aside = if few { 0 } else { self.store.set_strangers_aside(&strangers).await? };
            // Few hide nothing; and when none was moved others hold them, or do the same.
            if aside == 0 {
                break;
            }
            rows += aside;
            of.extend(strangers.into_iter().map(|stranger| stranger.code));
            self.waker.ring(queue);
        }
        if rows > 0 {
            tracing::warn!(queue, rows, ?of, "no live worker knows these: they wait until one does");
        }
        Ok(())
    }

    async fn wake_known(&self, codes: &[String]) -> Result<(), Error> {
        let mut after = CODE.to_owned();
        loop {
            let causes = self.store.blocked(&after, PIECE).await?;
            let of_code = causes.iter().filter(|cause| cause.starts_with(CODE));
            let (count, last) = (of_code.clone().count(), of_code.clone().next_back().cloned());
            let ours = of_code.filter(|cause| codes.iter().any(|code| cause[CODE.len()..] == *code));
            self.wake_causes(&ours.cloned().collect::<Vec<_>>()).await?;
            match last {
                Some(last) if count == PIECE as usize => after = last,
                _ => return Ok(()),
            }
        }
    }

    async fn wake_causes(&self, causes: &[String]) -> Result<(), Error> {
        let mut full = !causes.is_empty();
        while full {
            let woken = self.store.unblock_codes(causes, PIECE).await?;
            full = woken.len() == PIECE as usize;
            for queue in woken.into_iter().collect::<BTreeSet<_>>() {
                self.waker.ring(&queue);
                self.waker.notifier.wake(queue);
            }
        }
        Ok(())
    }
}
