use std::time::Duration;

/// How often a step is tried, and how long it waits in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Runs that may end in an error, the first included. At least 1.
    pub attempts: u32,
    /// The wait after the first error; it doubles with each further one.
    pub backoff: Duration,
    /// The longest wait.
    pub cap: Duration,
    /// Runs that may end with the death of their process. At least 1.
    pub crashes: u32,
}

impl RetryPolicy {
    /// 20 attempts from one second up to an hour apart, 10 crashes.
    pub const DEFAULT: Self =
        Self { attempts: 20, backoff: Duration::from_secs(1), cap: Duration::from_secs(3_600), crashes: 10 };

    /// The wait before the next attempt once `failed` attempts have failed, shortened by up to a quarter by
    /// `jitter` (0.0 to 1.0) so that instances that failed together do not come back together.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use gen_durable_runtime::model::RetryPolicy;
    /// let policy = RetryPolicy { backoff: Duration::from_secs(2), ..RetryPolicy::DEFAULT };
    /// assert_eq!(policy.delay(1, 0.0), Duration::from_secs(2));
    /// assert_eq!(policy.delay(3, 0.0), Duration::from_secs(8));
    /// assert_eq!(policy.delay(u32::MAX, 0.0), policy.cap);
    /// ```
    pub fn delay(&self, failed: u32, jitter: f64) -> Duration {
        let factor = 2u32.checked_pow(failed.saturating_sub(1)).unwrap_or(u32::MAX);
        let full = self.backoff.checked_mul(factor).unwrap_or(Duration::MAX).min(self.cap);
        full.mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
