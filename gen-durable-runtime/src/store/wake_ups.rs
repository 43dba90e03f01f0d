//! Wake-ups from other processes.

use std::{future::Future, pin::Pin};

/// Wake-ups from other processes.
pub trait WakeUps: Send {
    /// The next one. `Lost` after the connection broke: look for work once, then go on.
    fn next(&mut self) -> Pin<Box<dyn Future<Output = WakeUp> + Send + '_>>;
}

/// One wake-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WakeUp {
    /// Work may be due in this queue.
    Queue(String),
    /// Another process has written: any queue may have work.
    Any,
    /// The connection broke; some may have been missed.
    Lost,
}
