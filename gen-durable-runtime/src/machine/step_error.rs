use std::fmt;

use super::{ChildFailed, Outcome};
use crate::model::{Failure, FailureKind, Invalid};

/// What the handler of step `S` returns.
pub type StepResult<S> = Result<Outcome<S>, StepError>;

/// An error of a step: any error becomes one by `?`.
///
/// It retries the step, and takes its `catch` once the attempts are used up. [`ResultExt::permanent`] takes the
/// `catch` at once.
pub struct StepError {
    source: Box<dyn std::error::Error + Send + Sync>,
    kind: FailureKind,
    permanent: bool,
}

impl StepError {
    /// An error with this text.
    pub fn new(text: impl fmt::Display) -> Self {
        text.to_string().into()
    }

    /// Stored data that does not decode.
    pub fn undecodable(invalid: Invalid) -> Self {
        Self { kind: FailureKind::Undecodable, ..invalid.into() }
    }

    /// The same error, without retries.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.permanent = true;
        self
    }

    /// Whether the retries are skipped.
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// How the run failed.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// The error that became this one.
    pub fn source(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.source
    }

    /// As it is planned and stored.
    pub fn into_failure(self) -> Failure {
        Failure { kind: self.kind, error: self.to_string(), permanent: self.permanent }
    }
}

// `StepError` is no `Error` itself: that is what lets every error become one.
impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for StepError {
    fn from(error: E) -> Self {
        let source = error.into();
        let permanent = source.is::<ChildFailed>();
        Self { source, kind: FailureKind::Error, permanent }
    }
}

/// The whole chain of causes: what is kept on the row must explain itself.
impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        let mut cause = self.source.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StepError({self})")
    }
}

/// Adds [`permanent`](ResultExt::permanent) to every result whose error a step can return.
pub trait ResultExt<T> {
    /// Makes an error skip the retries: `.permanent()?` takes the step's `catch` at once.
    ///
    /// # Errors
    /// The error it was called on.
    fn permanent(self) -> Result<T, StepError>;
}

impl<T, E: Into<StepError>> ResultExt<T> for Result<T, E> {
    fn permanent(self) -> Result<T, StepError> {
        self.map_err(|e| e.into().permanent())
    }
}

/// What a `#[durable_job]` may return: a `Result` whose error a step can return.
#[diagnostic::on_unimplemented(
    message = "a job returns a `Result` whose error a step can return",
    label = "`{Self}` is none",
    note = "write `-> Result<T, StepError>`, or an error type that implements `std::error::Error`"
)]
pub trait JobReturn {
    /// The job's output.
    type Output;
    /// Any error becomes the step's.
    ///
    /// # Errors
    /// The job's own.
    fn into_step_result(self) -> Result<Self::Output, StepError>;
}

#[diagnostic::do_not_recommend]
impl<T, E: Into<StepError>> JobReturn for Result<T, E> {
    type Output = T;
    fn into_step_result(self) -> Result<T, StepError> {
        self.map_err(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_text_has_every_cause() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot ship")]
        struct Outer(#[source] std::num::ParseIntError);
        let error: StepError = Outer("x".parse::<u8>().unwrap_err()).into();
        assert_eq!(error.to_string(), "cannot ship: invalid digit found in string");
        let error = Err::<(), _>(Outer("x".parse::<u8>().unwrap_err())).permanent().unwrap_err();
        assert!(error.into_failure().permanent);
    }
}
