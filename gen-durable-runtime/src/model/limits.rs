//! What every store can hold. Checked before any SQL, the same on every backend.

use std::time::Duration;

use super::Invalid;

/// Names of machines, steps, queues, signals, limits: 1 to this many bytes.
pub const NAME_MAX_BYTES: usize = 200;
/// Business, concurrency and rate keys, and dedup keys. A btree key ends at about 2,690 random bytes; ours
/// end well before, whether the text compresses or not.
pub const KEY_MAX_BYTES: usize = 1_000;
/// JSON text of one state, carry, result or payload: 64 MiB.
pub const JSON_MAX_BYTES: usize = 64 << 20;
/// What the reader accepts: serde_json stops at 128 levels.
pub const JSON_MAX_DEPTH: usize = 127;
/// Error texts and reasons are cut here, at a character boundary.
pub const ERROR_MAX_BYTES: usize = 8_000;
/// Delays, timeouts and backoffs: 100 years.
pub const DELAY_MAX: Duration = Duration::from_secs(100 * 366 * 86_400);

/// A name: 1 to 200 bytes, no control characters, no `:` (which separates a name from its key).
///
/// # Errors
/// Names the field and the rule it breaks.
pub fn name(field: &str, text: &str) -> Result<(), Invalid> {
    match text {
        "" => Err(Invalid::new(field, format!("is empty: 1 to {NAME_MAX_BYTES} bytes are allowed"))),
        t if t.len() > NAME_MAX_BYTES => {
            Err(Invalid::new(field, format!("has {} bytes: at most {NAME_MAX_BYTES} are allowed", t.len())))
        }
        t if t.chars().any(char::is_control) => Err(Invalid::new(field, "has a control character")),
        t if t.contains(':') => Err(Invalid::new(field, "contains `:`, which separates a name from its key")),
        _ => Ok(()),
    }
}

/// A key: 1 to 1,000 bytes, no NUL. Any other text is kept byte for byte.
///
/// # Errors
/// Names the field and the rule it breaks.
pub fn key(field: &str, text: &str) -> Result<(), Invalid> {
    match text {
        "" => Err(Invalid::new(field, format!("is empty: 1 to {KEY_MAX_BYTES} bytes are allowed"))),
        t if t.len() > KEY_MAX_BYTES => {
            Err(Invalid::new(field, format!("has {} bytes: at most {KEY_MAX_BYTES} are allowed", t.len())))
        }
        t if t.contains('\0') => Err(Invalid::new(field, "contains a NUL character")),
        _ => Ok(()),
    }
}

/// A delay: up to 100 years.
///
/// # Errors
/// Names the field and the limit.
pub fn delay(field: &str, delay: Duration) -> Result<(), Invalid> {
    if delay > DELAY_MAX { Err(Invalid::new(field, "is longer than 100 years")) } else { Ok(()) }
}

/// Makes an error text storable: no NUL, at most 8,000 bytes. Failing must always succeed.
pub fn error_text(text: &str) -> String {
    let end = text.floor_char_boundary(ERROR_MAX_BYTES);
    text[..end].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_text_is_always_storable() {
        assert_eq!(error_text("a\0b"), "a\u{fffd}b");
        assert!(error_text(&"é".repeat(10_000)).len() <= ERROR_MAX_BYTES);
    }

    #[test]
    fn limits_are_the_same_for_random_and_repetitive_text() {
        assert!(key("key", &"a".repeat(KEY_MAX_BYTES)).is_ok());
        assert!(key("key", &"a".repeat(KEY_MAX_BYTES + 1)).is_err());
        assert!(key("key", "a\0").is_err());
        assert!(name("queue", "a:b").is_err());
        assert!(name("queue", "q'; drop table victim; --").is_ok());
    }

    #[test]
    fn an_absurd_delay_is_refused() {
        assert!(delay("delay", Duration::MAX).is_err());
        assert!(delay("delay", Duration::ZERO).is_ok());
    }
}
