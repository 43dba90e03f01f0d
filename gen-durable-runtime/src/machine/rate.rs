use std::time::Duration;

use super::Key;

/// A rate limit: a token bucket per key, declared once and used by type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limit",
    label = "not a rate limit",
    note = "derive it on a unit struct: `#[derive(RateLimit)] #[rate_limit(allowed = 100, per = \"1m\")]`"
)]
pub trait RateLimit: 'static {
    /// Stored name.
    const NAME: &'static str;
    /// Tokens per [`PER`](RateLimit::PER).
    const ALLOWED: u32;
    /// The period.
    const PER: Duration;
    /// Bucket size.
    const BURST: u32;
    /// Counter rows per key.
    const SHARDS: u16;
    /// The parts of its key: a tuple.
    type Key: Key;
}

/// A concurrency key: how many steps with one key execute at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a concurrency key",
    label = "not a concurrency key",
    note = "derive it on a unit struct: `#[derive(ConcurrencyKey)] #[concurrency(key(u64))]`"
)]
pub trait ConcurrencyKey: 'static {
    /// Stored name.
    const NAME: &'static str;
    /// How many at once; `None` is one, by the unique index.
    const LIMIT: Option<u32>;
    /// Counter rows per key.
    const SHARDS: u16;
    /// The slot is held from first claim to end.
    const HELD: bool;
    /// The parts of its key: a tuple.
    type Key: Key;
}
