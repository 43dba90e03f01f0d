use std::fmt;

/// Input that no store can hold: it names the field and the limit, never the value.
///
/// ```
/// # use gen_durable_runtime::model::{Invalid, limits};
/// let error = limits::name("queue", "").unwrap_err();
/// assert_eq!(error.to_string(), "queue is empty: 1 to 200 bytes are allowed");
/// assert_eq!(error.field(), "queue");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    field: String,
    problem: String,
}

impl Invalid {
    /// `field` is what the user calls it; `problem` completes the sentence "`field` …".
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }

    /// The same, for the item of a batch at this position.
    #[must_use]
    pub fn at(self, position: usize) -> Self {
        Self { problem: format!("{} (item {position})", self.problem), ..self }
    }

    /// The field that is wrong, in the user's words.
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl std::error::Error for Invalid {}
