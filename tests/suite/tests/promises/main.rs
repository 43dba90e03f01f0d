//! The promises, each a test named after it.

mod claims;
