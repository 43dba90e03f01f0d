//! How long to wait before the database is asked again.

use std::time::Duration;

/// The shortest wait, and the longest.
const SPAN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

/// Doubles from 20 ms to 2 s, with jitter: a thousand workers do not come back in one instant.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(SPAN.0)
    }
}

impl Backoff {
    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.0.mul_f64(rand::random_range(0.5..1.0))).await;
        self.0 = (self.0 * 2).min(SPAN.1);
    }
}
