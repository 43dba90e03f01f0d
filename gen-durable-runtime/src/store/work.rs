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
        Ok(Err(panic)) => Err(Error::work(failed(FailureKind::Panic, &text(&*panic)))),
        Err(_) => {
            Err(Error::work(failed(FailureKind::RunTimeout, &format!("in_transaction ran longer than {limit:?}"))))
        }
    }
}

fn failed(kind: FailureKind, error: &str) -> Failure {
    Failure { kind, error: error.to_owned(), permanent: false }
}

fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("in_transaction panicked: {}", text.unwrap_or("with a value that is no text"))
}
