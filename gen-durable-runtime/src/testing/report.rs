use std::panic::Location;

use crate::Error;

/// A test's own line, for what fails in the middle of an `await`.
pub(super) type At = &'static Location<'static>;

/// Fails the test that called at this line.
pub(super) fn stop(at: At, what: impl std::fmt::Display) -> ! {
    panic!("test kit, called at {at}: {what}")
}

pub(super) fn or_stop<T>(result: Result<T, Error>, at: At, what: &str) -> T {
    result.unwrap_or_else(|error| stop(at, format_args!("{what}: {error}")))
}
