use std::time::{Duration, Instant};

/// How much waiting is left, and how long the next pause is.
pub(super) struct Patience {
    end: Instant,
    pause: Duration,
    collisions: u32,
}

/// First pause after a table lock was refused; it doubles.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Between two looks at another migrator's lock. It blocks nobody.
const POLL: Duration = Duration::from_millis(50);
/// A name that was taken that often is not taken by a race.
const COLLISIONS_MAX: u32 = 2;

impl Patience {
    pub(super) fn new(whole: Duration) -> Self {
        // Far away when the sum overflows.
        let far = Duration::from_secs(100 * 366 * 86_400);
        let end = Instant::now().checked_add(whole.min(far)).unwrap_or_else(Instant::now);
        Self { end, pause: PAUSE_MIN, collisions: 0 }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    pub(super) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether a collision may have been a race; counts it.
    pub(super) fn forgives_collision(&mut self) -> bool {
        self.collisions += 1;
        self.collisions <= COLLISIONS_MAX
    }

    /// Sleeps until the next look at another migrator.
    pub(super) async fn poll(&self) {
        self.sleep(POLL).await;
    }

    /// Leaves the tables to the workers, longer each time.
    pub(super) async fn back_off(&mut self) {
        self.sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }

    /// Half to one and a half of it, so that several migrators do not march in step.
    async fn sleep(&self, pause: Duration) {
        let pause = pause.mul_f64(rand::random_range(0.5..1.5));
        tokio::time::sleep(pause.min(self.left())).await;
    }
}
