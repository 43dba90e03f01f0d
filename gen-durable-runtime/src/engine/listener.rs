//! Wake-ups from other processes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use super::{backoff::Backoff, shared::Shared};
use crate::store::{Said, WakeUp, WakeUps};

/// How often a listener proves that it hears: a half-open connection says nothing for ever.
const PING: Duration = Duration::from_secs(10);
/// How soon after another process wrote something a schedule of its is looked for: once for all that it writes meanwhile.
const ANY: Duration = Duration::from_millis(500);
/// How long its own call may take to come back.
const ECHO: Duration = Duration::from_secs(5);

impl Shared {
    /// Listens until the worker stops, over any loss of the connection.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        while !self.is_stopped() {
            match self.store.wake_ups().await {
                Ok(None) => {
                    self.pauses.deaf.store(true, Ordering::Release);
                    return self.waker.bells.pauses.ring();
                }
                Ok(Some(wake_ups)) => {
                    // What was sent while nobody listened.
                    self.waker.bells.ring_all();
                    self.waker.bells.schedules.ring();
                    self.waker.bells.pauses.ring();
                    let began = Instant::now();
                    self.hear(wake_ups).await;
                    self.hears.store(false, Ordering::Release);
                    // Queues that were looked at seldom are looked at often from now on.
                    self.waker.bells.ring_all();
                    // Against a server that drops us at once the waits must grow.
                    if began.elapsed() > ECHO {
                        backoff = Backoff::default();
                    }
                }
                Err(error) => tracing::warn!(%error, "cannot listen for wake-ups, polling until then"),
            }
            backoff.wait().await;
        }
    }

    /// Hears until the connection is lost, or proves deaf.
    async fn hear(self: &Arc<Self>, mut wake_ups: Box<dyn WakeUps>) {
        // At once: who waits for what this engine does hears of it, and answers.
        let mut pinged = Some(self.ping());
        let mut heard = Instant::now();
        while !self.is_stopped() {
            let next = match pinged {
                Some(at) => at + ECHO,
                None => heard + PING,
            };
            tokio::select! {
                wake_up = wake_ups.next() => match wake_up {
                    WakeUp::Queue(text) => match Said::parse(&text) {
                        Some(Said::Ping(engine)) if engine == self.identity.name() => {
                            (pinged, heard) = (None, Instant::now());
                            self.hears.store(true, Ordering::Release);
                        }
                        Some(Said::Cancel(id)) => self.hear_cancel(id),
                        Some(Said::Schedules) => self.waker.bells.schedules.ring(),
                        Some(Said::Queues) => self.waker.bells.pauses.ring(),
                        Some(said) => self.waker.notifier.hear(said),
                        None => drop(self.waker.ring(&text)),
                    },
                    WakeUp::Any => {
                        self.waker.bells.ring_all();
                        self.waker.bells.pauses.ring();
                        // Of the first schedule whoever ends waits tells.
                        if self.some_schedules.load(Ordering::Acquire) {
                            self.waker.bells.schedules.ring_in(ANY);
                        }
                    }
                    WakeUp::Lost => return tracing::info!("the wake-up connection was lost, connecting again"),
                },
                () = tokio::time::sleep_until(next.into()) => {
                    if pinged.is_some() {
                        return tracing::warn!("the wake-up connection is deaf, connecting again");
                    }
                    pinged = Some(self.ping());
                }
            }
        }
    }

    fn ping(&self) -> Instant {
        self.waker.notifier.wake(Said::ping(self.identity.name()));
        Instant::now()
    }
}
