//! Hears what became of instances, while somebody of this client waits: a listener of its own, over any loss.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use crate::store::{News, Said, Steps, Store, WakeUp, WakeUps};

/// How often engines are greeted; they count a greeting for three times as long. It proves as well that we hear.
const GREET: Duration = Duration::from_secs(10);
/// How long our own greeting may take to come back.
const ECHO: Duration = Duration::from_secs(5);
/// How soon an engine that we did not know is greeted: a hundred of them are greeted together.
const SOON: Duration = Duration::from_millis(100);
/// Before the connection is tried again, at first and at last.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// What was heard.
#[derive(Debug)]
pub(super) enum Heard {
    /// From here on nothing is missed.
    Clear,
    /// What became of these.
    News(Vec<News>),
    /// Something became of any.
    Any,
    /// The connection broke, or is deaf: some may have been missed.
    Lost,
    /// This store has no wake-ups.
    Never,
}

/// Dropped, it hears no more.
#[derive(Debug)]
pub(super) struct Ear {
    heard: mpsc::UnboundedReceiver<Heard>,
    steps: watch::Sender<Steps>,
    task: JoinHandle<()>,
}

impl Ear {
    pub(super) fn open(store: &Arc<dyn Store>) -> Self {
        let (tell, heard) = mpsc::unbounded_channel();
        let (steps, wanted) = watch::channel(Steps::None);
        let name = format!("{:016x}", rand::random::<u64>());
        let listening = Listening { store: Arc::clone(store), name, wanted, tell };
        Self { heard, steps, task: tokio::spawn(listening.run()) }
    }

    /// What is heard next; never resolves once the store said that it has none.
    pub(super) async fn next(&mut self) -> Heard {
        match self.heard.recv().await {
            Some(heard) => heard,
            None => std::future::pending().await,
        }
    }

    /// What was heard already.
    pub(super) fn try_next(&mut self) -> Option<Heard> {
        self.heard.try_recv().ok()
    }

    /// The steps that are waited for.
    pub(super) fn want(&self, steps: Steps) {
        self.steps.send_if_modified(|wanted| {
            let changed = *wanted != steps;
            *wanted = steps;
            changed
        });
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Listening {
    store: Arc<dyn Store>,
    /// Tells our own greeting from others.
    name: String,
    wanted: watch::Receiver<Steps>,
    tell: mpsc::UnboundedSender<Heard>,
}

/// Engines no longer tell us anything, once the database hears of it.
impl Drop for Listening {
    fn drop(&mut self) {
        let (store, bye) = (Arc::clone(&self.store), Said::bye(&self.name));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { store.notify(&[bye]).await });
        }
    }
}

impl Listening {
    async fn run(mut self) {
        let mut pause = AGAIN.0;
        loop {
            let began = Instant::now();
            match self.store.wake_ups().await {
                Ok(None) => return self.say(Heard::Never),
                Ok(Some(wake_ups)) => {
                    self.hear(wake_ups).await;
                    self.say(Heard::Lost);
                }
                Err(error) => tracing::debug!(%error, "cannot listen for results, looking for them until then"),
            }
            // Against a server that drops us at once the pauses must grow.
            pause = if began.elapsed() > ECHO { AGAIN.0 } else { (pause * 2).min(AGAIN.1) };
            tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
        }
    }

    fn say(&self, heard: Heard) {
        // Nobody waits any more: the task is about to be dropped.
        let _ = self.tell.send(heard);
    }

    /// Hears until the connection is lost, or proves deaf.
    async fn hear(&mut self, mut wake_ups: Box<dyn WakeUps>) {
        let mut engines = HashSet::new();
        let mut greeted = self.greet().await;
        let mut greet_at = greeted + GREET;
        // Whether our last greeting came back, and whether any did.
        let (mut echoed, mut clear) = (false, false);
        loop {
            let next = if echoed { greet_at } else { greeted + ECHO };
            tokio::select! {
                wake_up = wake_ups.next() => match wake_up {
                    WakeUp::Queue(text) => match Said::parse(&text) {
                        Some(Said::Hello(client, _)) if client == self.name => {
                            echoed = true;
                            if !std::mem::replace(&mut clear, true) {
                                self.say(Heard::Clear);
                            }
                        }
                        Some(Said::News(news)) => self.say(Heard::News(news)),
                        Some(Said::Look) => self.say(Heard::Any),
                        // It may have come after our last greeting.
                        Some(Said::Ping(engine)) => {
                            if engines.insert(engine) {
                                greet_at = greet_at.min(Instant::now() + SOON);
                            }
                        }
                        Some(Said::Hello(..) | Said::Bye(_) | Said::Cancel(_) | Said::Schedules | Said::Queues) | None => {}
                    },
                    WakeUp::Any => self.say(Heard::Any),
                    WakeUp::Lost => return,
                },
                Ok(()) = self.wanted.changed() => greet_at = Instant::now(),
                () = tokio::time::sleep_until(next.into()) => {
                    if !echoed {
                        return tracing::debug!("the connection that hears of results is deaf, connecting again");
                    }
                    greeted = self.greet().await;
                    (echoed, greet_at) = (false, greeted + GREET);
                }
            }
        }
    }

    async fn greet(&mut self) -> Instant {
        let hello = Said::hello(&self.name, &self.wanted.borrow_and_update());
        // Unsent, it does not come back.
        if let Ok(Err(error)) = tokio::time::timeout(ECHO, self.store.notify(&[hello])).await {
            tracing::debug!(%error, "engines were not greeted");
        }
        Instant::now()
    }
}
