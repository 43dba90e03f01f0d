//! Ctrl-C and SIGTERM.

#[cfg(unix)]
pub(super) struct Signals {
    interrupt: Option<tokio::signal::unix::Signal>,
    terminate: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    /// The next one of either.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => {}
            () = received(self.terminate.as_mut()) => {}
        }
    }
}

#[cfg(unix)]
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
