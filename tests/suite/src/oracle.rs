//! "Nothing lost": what must hold once all workers are quiet.

use std::{collections::BTreeSet, time::Duration};

use gen_durable::InstanceId;

use crate::{Db, eventually};

/// Waits until the workers are quiet; then every instance has ended or is parked, nothing executes, no parked row has
/// a matching signal, no wait is overdue, and no lock or transaction was left behind. The server logged no error, or
/// the file is sound.
pub async fn nothing_lost(db: &Db, ids: &[InstanceId]) {
    Oracle::of(db).check(ids).await;
}

/// The same, where something is expected to take longer or to be logged.
#[allow(missing_debug_implementations)]
pub struct Oracle<'d> {
    db: &'d Db,
    within: Duration,
    expected: Vec<&'static str>,
}

const BUSY: &str = "SELECT count(*) FROM gen_durable
    WHERE status = 'executing' OR (status = 'runnable' AND eligible_at <= now())";

const SETTLED: &str = "SELECT count(*) FROM gen_durable WHERE id = ANY ($1)
    AND (status IN ('done', 'failed', 'awaiting_signal') OR (status = 'runnable' AND eligible_at > now()))";

const UNHEARD: &str = "SELECT count(*) FROM gen_durable g JOIN signals s ON s.target_id = g.id
    WHERE g.status = 'awaiting_signal' AND s.consumed_at IS NULL AND s.name = ANY (g.awaits)";

const OVERDUE: &str = "SELECT count(*) FROM gen_durable
    WHERE status = 'awaiting_signal' AND await_deadline < now() - interval '5 s'";

const JOINS: &str = "SELECT count(*) FROM gen_durable WHERE children_pending <> 0";

impl<'d> Oracle<'d> {
    pub fn of(db: &'d Db) -> Self {
        // What the server says of a process that went while it was answered, and of a start with a business key that waited 20 ms
        // for whoever is inserting that key: it is tried again.
        let expected = vec!["connection to client lost", "canceling statement due to lock timeout"];
        Self { db, within: Duration::from_secs(30), expected }
    }

    /// How long the workers may take until they are quiet.
    #[must_use]
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// A line with this text may stand in the server's log.
    #[must_use]
    pub fn expect_in_log(mut self, text: &'static str) -> Self {
        self.expected.push(text);
        self
    }

    pub async fn check(self, ids: &[InstanceId]) {
        let Self { db, within, expected } = self;
        let all = i64::try_from(ids.iter().collect::<BTreeSet<_>>().len()).expect("small");
        // Both again and again: a retry's time may come between the two.
        let quiet = async || db.count(BUSY).await == 0 && db.count_of(SETTLED, ids).await == all;
        let what = format!("quiet workers, and {all} instances that ended or are parked");
        eventually(&what, within, quiet).await;
        assert_eq!(db.count(UNHEARD).await, 0, "parked rows with a matching signal");
        assert_eq!(db.count(OVERDUE).await, 0, "waits whose time was up long ago");
        assert_eq!(db.count(JOINS).await, 0, "join counters");
        let free = async || db.is_free().await;
        eventually("no lock and no open transaction", Duration::from_secs(5), free).await;
        assert_eq!(db.faults(&expected).await, Vec::<String>::new(), "the server's log, or the file");
    }
}
