//! The promises, each a test named after it.

mod claims;
mod plans;
