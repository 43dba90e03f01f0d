use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// Tells a running step that its instance is to end. Cloned handles share one flag.
///
/// It needs no runtime, so that handlers can be called from any executor and from a plain unit test.
///
/// ```
/// # use gen_durable_runtime::machine::Cancel;
/// let cancel = Cancel::new();
/// let told = cancel.clone();
/// assert!(!told.is_fired());
/// cancel.fire();
/// assert!(told.is_fired());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    fired: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Cancel {
    /// A flag that was not fired.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires it, for good: everyone who waits is woken.
    pub fn fire(&self) {
        self.0.fired.store(true, Ordering::Release);
        let woken = std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        woken.into_iter().for_each(Waker::wake);
    }

    /// Whether it was fired.
    pub fn is_fired(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// Resolves once it was fired.
    pub fn fired(&self) -> Cancellation {
        Cancellation(self.0.clone())
    }
}

/// Resolves once the step was cancelled. Safe to drop and to ask for again.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Cancellation(Arc<Flag>);

impl Future for Cancellation {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: a `fire` between the look and the push would be missed.
        if self.0.fired.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|w| w.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_is_woken() {
        let cancel = Cancel::new();
        let mut future = std::pin::pin!(cancel.fired());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut cx).is_pending());
        cancel.fire();
        assert!(future.as_mut().poll(&mut cx).is_ready());
    }
}
