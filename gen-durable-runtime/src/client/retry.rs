use super::{Client, Handle};
use crate::{
    Error,
    machine::Machine,
    model::{InstanceId, Status, Target},
    store::{Filter, Retrying},
};

/// What became of a retry of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryReport {
    /// They go on; with a dry run: would be tried.
    pub again: Vec<InstanceId>,
    /// Left as they are: their business key has a newer occupant.
    pub duplicates: Vec<InstanceId>,
}

impl Client {
    /// Lets a failed instance go on from the step that failed, with its attempts anew. The visit is the same: so is its
    /// `cx.idempotency_key()`, and it sees the same signals. A parent that counted its failure does not count it again.
    ///
    /// # Errors
    /// `is_no_target` when it has not failed or never was; `is_duplicate` when its business key was taken meanwhile; or the
    /// store's.
    pub async fn retry(&self, target: &Target) -> Result<InstanceId, Error> {
        target.check()?;
        match self.0.store.retry(target).await? {
            Retrying::Goes { id, queue } => {
                self.0.notifier.wake(queue);
                Ok(id)
            }
            Retrying::Duplicate(occupant) => Err(Error::duplicate(occupant)),
            Retrying::NoTarget => Err(Error::no_target()),
        }
    }

    /// Retries every failed instance that this filter finds. With `dry_run` it only says which.
    ///
    /// # Errors
    /// The store's.
    pub async fn retry_all(&self, filter: Filter, dry_run: bool) -> Result<RetryReport, Error> {
        let mut report = RetryReport::default();
        let mut filter = Filter { limit: 1_000, status: Some(Status::Failed), ..filter };
        loop {
            let page = self.0.store.list(&filter).await?;
            let Some(last) = page.last().map(|s| s.id) else { return Ok(report) };
            for id in page.iter().map(|s| s.id) {
                if dry_run {
                    report.again.push(id);
                    continue;
                }
                match self.retry(&Target::Id(id)).await {
                    Ok(id) => report.again.push(id),
                    Err(error) if error.is_duplicate() => report.duplicates.push(id),
                    // Someone else was first.
                    Err(error) if error.is_no_target() => {}
                    Err(error) => return Err(error),
                }
            }
            filter = filter.before(last);
        }
    }
}

impl<M: Machine> Handle<M> {
    /// Lets it go on from the step that failed: see [`Client::retry`].
    ///
    /// # Errors
    /// As [`Client::retry`].
    pub async fn retry(&self) -> Result<(), Error> {
        self.client().retry(self.target()).await.map(drop)
    }
}
