use super::{Client, Handle};
use crate::{
    Error,
    machine::Machine,
    model::{InstanceId, Target, limits},
    store::{Cancelling, Filter, Said},
};

/// Instances that were asked to end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CancelReport {
    /// Asked to end; with a dry run: would be.
    pub asked: Vec<InstanceId>,
}

impl Client {
    /// Asks an instance to end, for a reason that stands on it afterwards. Asking again is no error.
    ///
    /// Not running, it goes to its `on_cancel` step or ends as failed (`cancelled`); running, its
    /// `cx.cancelled()` resolves, and after 10 s its run is dropped; what it came to is dropped too unless it was its end. At a
    /// `shield` step it goes on until it leaves that. Its children are cancelled as well, a level at a time.
    ///
    /// # Errors
    /// `is_no_target` when it has ended or never was; a reason longer than an error text may be; or the store's.
    pub async fn cancel(&self, target: &Target, reason: &str) -> Result<InstanceId, Error> {
        target.check()?;
        let answers = self.cancel_targets(std::slice::from_ref(target), reason).await?;
        answers.first().copied().ok_or_else(Error::no_target)
    }

    /// Asks every instance that this filter finds, and that has not ended, to end. With `dry_run` it only says which.
    ///
    /// # Errors
    /// The store's.
    pub async fn cancel_all(&self, filter: Filter, reason: &str, dry_run: bool) -> Result<CancelReport, Error> {
        let (mut report, mut filter) = (CancelReport::default(), Filter { limit: 1_000, ..filter });
        loop {
            let page = self.0.store.list(&filter).await?;
            let Some(last) = page.last().map(|s| s.id) else { return Ok(report) };
            let live = page.iter().filter(|s| !s.status.is_ended()).map(|s| s.id);
            let targets: Vec<Target> = live.map(Target::Id).collect();
            if dry_run {
                report
                    .asked
                    .extend(targets.iter().filter_map(|t| if let Target::Id(id) = t { Some(*id) } else { None }));
            } else {
                report.asked.extend(self.cancel_targets(&targets, reason).await?);
            }
            filter = filter.before(last);
        }
    }

    async fn cancel_targets(&self, targets: &[Target], reason: &str) -> Result<Vec<InstanceId>, Error> {
        let answers = self.0.store.cancel(targets, &limits::error_text(reason)).await?;
        let mut asked = Vec::with_capacity(answers.len());
        for answer in answers {
            let Cancelling::Asked { id, queue, executing } = answer else { continue };
            self.0.notifier.wake(if executing { Said::cancel(id) } else { queue });
            asked.push(id);
        }
        Ok(asked)
    }
}

impl<M: Machine> Handle<M> {
    /// Asks it to end: see [`Client::cancel`].
    ///
    /// # Errors
    /// As [`Client::cancel`].
    pub async fn cancel(&self, reason: &str) -> Result<(), Error> {
        self.client().cancel(self.target(), reason).await.map(drop)
    }
}
