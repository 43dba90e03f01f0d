use std::{any::Any, time::Duration};

use super::{Entry, Json};

/// What one run of a step asks for.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "made once a step and moved; a box would cost an allocation a step")]
pub enum Verdict {
    /// Enter `entry`, after `delay`.
    Goto {
        /// The step to enter.
        entry: Entry,
        /// How long it stays runnable-later first; zero for at once.
        delay: Duration,
        /// The carry as it is kept.
        carry: Option<Json>,
    },
    /// Run this step again later; counts as an attempt, is not bounded by `attempts`.
    RetryIn(Duration),
    /// End with a result.
    Done {
        /// The machine's output.
        result: Json,
        /// The carry as it is kept.
        carry: Option<Json>,
    },
    /// End as failed: no retry, no catch.
    Fail {
        /// Kept on the row.
        reason: String,
        /// The carry as it is kept.
        carry: Option<Json>,
    },
}

/// A run that did not come to a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// The text that is kept on the row.
    pub error: String,
    /// Skip the retries.
    pub permanent: bool,
}

impl Failure {
    /// A panic, with its text as `panic!` made it.
    pub fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let error =
            text.map_or_else(|| "panicked with a value that is no text".to_owned(), |text| format!("panicked: {text}"));
        Self { kind: FailureKind::Panic, error, permanent: false }
    }
}

/// How a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The handler returned an error.
    Error,
    /// The handler panicked.
    Panic,
    /// It ran longer than its `run_timeout`.
    RunTimeout,
    /// Its process died, `retry(crashes)` times.
    Crashed,
    /// Its stored data does not decode.
    Undecodable,
}
