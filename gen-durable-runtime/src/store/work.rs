//! The user's own work within a commit.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;

use crate::{
    Error, StoreClass,
    machine::{Tx, TxWork},
    model::{Failure, FailureKind, Work},
};

/// Runs it, for a bounded time. Its error and its panic are the step's.
pub(super) async fn run(work: &Work, tx: Tx<'_>, limit: Duration) -> Result<(), Error> {
    let Some(work) = work.of::<TxWork>() else {
        return Err(Error::store("running work", StoreClass::Permanent, "it is of an unknown type"));
    };
    let run = AssertUnwindSafe(work.run(tx)).catch_unwind();
    match tokio::time::timeout(limit, run).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(error))) => Err(Error::work(error.into_failure())),
        Ok(Err(panic)) => {
            let failure = Failure::panicked(&*panic);
            Err(Error::work(Failure { error: format!("in_transaction {}", failure.error), ..failure }))
        }
        Err(_) => {
            let error = format!("in_transaction ran longer than {limit:?}");
            Err(Error::work(Failure { kind: FailureKind::RunTimeout, error, permanent: false }))
        }
    }
}
