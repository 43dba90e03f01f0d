//! Floor 1: what the macros implement and handlers use, and the registry of what is linked in.

mod info;
pub mod registry;

pub use info::*;

/// What a handler is told.
#[derive(Debug)]
pub struct StepContext;
/// An error of a step.
#[derive(Debug)]
pub struct StepError;
