use std::time::Duration;

use super::signals::Signals;
use crate::{
    client::Client,
    engine::{Engine, Stats},
};

/// A worker at work. Dropping it drops running steps, which give their claims back if the runtime lives on;
/// [`RunningWorker::stop`] drains.
#[derive(Debug)]
pub struct RunningWorker {
    client: Client,
    engine: Engine,
}

impl RunningWorker {
    pub(super) fn new(client: Client, engine: Engine) -> Self {
        Self { client, engine }
    }

    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What it did so far.
    pub fn stats(&self) -> &Stats {
        self.engine.stats()
    }

    /// What runs now, a line each.
    pub fn running(&self) -> Vec<String> {
        self.engine.running()
    }

    /// Drains: no new claims; running steps finish, or give their claims back once the drain time is over.
    pub async fn stop(self) {
        self.engine.drain(std::future::pending()).await;
    }

    /// Works until Ctrl-C or SIGTERM, then drains; a second one does not wait for running steps.
    pub async fn run_until_signal(self) {
        let mut signals = Signals::new();
        signals.next().await;
        let running = self.running();
        match running.len() {
            0 => tracing::info!("stopping"),
            n => tracing::info!("stopping: waits for {n} steps; once more to give their claims back at once"),
        }
        let report = report(&running);
        let hurry = async {
            tokio::select! {
                () = signals.next() => tracing::info!("does not wait any longer"),
                () = report => {}
            }
        };
        self.engine.drain(hurry).await;
        tracing::info!("stopped");
    }
}

/// Says what a stop waits for. Never resolves.
async fn report(running: &[String]) {
    for step in running.iter().take(10) {
        tracing::info!("waits for {step}");
    }
    loop {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
    }
}
