//! How long to wait, and how much to do.

use std::time::{Duration, Instant};

/// Whether the trials are to have their full size.
pub fn is_long() -> bool {
    std::env::var_os("GEN_DURABLE_LONG").is_some_and(|value| value == "1")
}

/// The full size of a trial, or a tenth of it.
pub fn size(full: usize) -> usize {
    if is_long() { full } else { full / 10 }
}

/// Waits until it holds; answers how long that took.
pub async fn eventually(what: &str, within: Duration, mut holds: impl AsyncFnMut() -> bool) -> Duration {
    let began = Instant::now();
    loop {
        // The look itself may take long: judged by when it began.
        let looked = began.elapsed();
        if holds().await {
            return looked;
        }
        assert!(looked < within, "not within {within:?}: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
