//! "Nothing lost": what must hold once all workers are quiet.

use std::{fs, time::Duration};

use gen_durable::InstanceId;

use crate::{Db, eventually};

/// Waits until the workers are quiet; then every instance has ended or is parked, nothing executes, no parked row has
/// a matching signal, no wait is overdue, the server logged no error, and no lock or transaction was left behind.
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

const STRAY: &str = "SELECT count(*) FROM unnest($1::bigint[]) AS i(id) LEFT JOIN gen_durable g ON g.id = i.id
    WHERE g.id IS NULL OR g.status NOT IN ('done', 'failed', 'awaiting_signal')
    AND NOT (g.status = 'runnable' AND g.eligible_at > now())";

const UNHEARD: &str = "SELECT count(*) FROM gen_durable g JOIN signals s ON s.target_id = g.id
    WHERE g.status = 'awaiting_signal' AND s.consumed_at IS NULL AND s.name = ANY (g.awaits)";

const OVERDUE: &str = "SELECT count(*) FROM gen_durable
    WHERE status = 'awaiting_signal' AND await_deadline < now() - interval '5 s'";

const JOINS: &str = "SELECT count(*) FROM gen_durable WHERE children_pending <> 0";

const LEFT_BEHIND: &str = "SELECT (SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database())
    + (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'
       AND state_change < now() - interval '1 s')";

impl<'d> Oracle<'d> {
    pub fn of(db: &'d Db) -> Self {
        // What the server says of a process that went while it was answered.
        Self { db, within: Duration::from_secs(30), expected: vec!["connection to client lost"] }
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
        let Self { db, within, .. } = self;
        eventually("quiet workers", within, async || db.count(BUSY).await == 0).await;
        assert_eq!(db.count_of(STRAY, ids).await, 0, "instances that neither ended nor are parked");
        assert_eq!(db.count(UNHEARD).await, 0, "parked rows with a matching signal");
        assert_eq!(db.count(OVERDUE).await, 0, "waits whose time was up long ago");
        assert_eq!(db.count(JOINS).await, 0, "join counters");
        let left = async || db.count(LEFT_BEHIND).await == 0;
        eventually("no lock and no open transaction", Duration::from_secs(5), left).await;
        assert_eq!(self.log_errors(), Vec::<String>::new(), "the server's log");
    }

    /// What the server complained of in this database.
    fn log_errors(&self) -> Vec<String> {
        let log = fs::read(self.db.database.server().log_path()).expect("the server's log");
        let log = String::from_utf8_lossy(&log);
        let ours = format!("] {} ", self.db.database.name());
        let is_error = |line: &&str| {
            line.split_once(&ours).is_some_and(|(_, said)| {
                ["ERROR:", "FATAL:", "PANIC:"].iter().any(|level| said.starts_with(level))
                    && !self.expected.iter().any(|text| said.contains(text))
            })
        };
        log.lines().filter(is_error).map(str::to_owned).collect()
    }
}
