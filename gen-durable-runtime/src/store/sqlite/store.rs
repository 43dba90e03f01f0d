use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use jiff::Timestamp;
use sqlx::SqlitePool;

use super::{file::File, hub::Hub, inspect, migrate};
#[cfg(feature = "testing")]
use crate::store::lent::Lent;
use crate::{
    Error,
    machine::{ChildCounts, ChildResult},
    model::{
        Child, ClaimToken, HistoryEntry, InstanceId, Purged, SignalSpec, Snapshot, StartSpec, Started, Target,
        Transition, admission::LimitKind,
    },
    store::{
        CallerTransaction, Cancelling, ChildPage, ClaimOrder, Claimed, Commits, DatabaseOptions, Delivery,
        DueSchedules, ExpiredKeys, Filter, Fired, Firing, KeyExpiry, KinPage, LimitDef, Migration, Pending, Purge,
        PutSchedule, QueueStanding, Renewed, Retrying, ScheduleChange, Schedules, Standing, Store, StoredLimit, Swept,
        ToldChildren, WakeUps,
        clock::Clock,
        copy::{Role, Side},
        limiting::Saying,
    },
};

/// The SQLite store: one connection that writes, a pool that reads.
#[derive(Clone)]
pub struct Sqlite(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) file: File,
    pub(super) writer: SqlitePool,
    pub(super) readers: Option<SqlitePool>,
    pub(super) options: DatabaseOptions,
    pub(super) hub: Arc<Hub>,
    clock: Clock,
    /// Whether the writer's next commit is surely flushed to the disk.
    pub(super) flushes: AtomicBool,
    /// The writer met an error after which it is opened anew.
    pub(super) doubtful: AtomicBool,
    /// Everything happens in here, and nothing is committed.
    #[cfg(feature = "testing")]
    pub(super) lent: Option<Lent<sqlx::Sqlite>>,
}

impl Sqlite {
    /// Opens pools; touches the file with the first call.
    ///
    /// # Errors
    /// When the URL cannot be read, or asks for what one file cannot do.
    pub fn new(options: DatabaseOptions) -> Result<Self, Error> {
        Self::with_clock(options, Clock::Machine)
    }

    /// As [`Sqlite::new`], on another clock than the machine's: for tests, where nobody else works on the file.
    ///
    /// # Errors
    /// As [`Sqlite::new`].
    pub fn with_clock(options: DatabaseOptions, clock: Clock) -> Result<Self, Error> {
        let file = File::of(&options)?;
        let (wait, hub) = (options.call_timeout, Hub::of(file.identity()));
        let (writer, readers) = (file.writer(wait), file.readers(options.pool_size, wait));
        let (flushes, doubtful) = (AtomicBool::new(file.is_full()), AtomicBool::new(false));
        Ok(Self(Arc::new(Inner {
            file,
            writer,
            readers,
            options,
            hub,
            clock,
            flushes,
            doubtful,
            #[cfg(feature = "testing")]
            lent: None,
        })))
    }

    /// The same file, seen and written from within this transaction alone, which wakes nobody: for tests.
    ///
    /// # Errors
    /// None that [`Sqlite::new`] had not.
    #[cfg(feature = "testing")]
    pub(crate) fn lend(&self, lent: Lent<sqlx::Sqlite>, clock: Clock) -> Result<Self, Error> {
        let Inner { writer, readers, options, .. } = &*self.0;
        let (writer, readers, options) = (writer.clone(), readers.clone(), options.clone());
        let (file, hub, lent) = (File::of(&options)?, Hub::of(None), Some(lent));
        let (flushes, doubtful) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self(Arc::new(Inner { file, writer, readers, options, hub, clock, flushes, doubtful, lent })))
    }

    /// Whether it is only lent, and its connections are another's to close.
    fn is_lent(&self) -> bool {
        #[cfg(feature = "testing")]
        return self.0.lent.is_some();
        #[cfg(not(feature = "testing"))]
        false
    }

    /// The clock of everything in the file: all its processes run on one machine.
    pub(super) fn now(&self) -> i64 {
        self.0.clock.now()
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sqlite").field(&self.describe()).finish()
    }
}

impl Store for Sqlite {
    fn claim<'a>(&'a self, order: &'a ClaimOrder<'a>) -> Pending<'a, Claimed> {
        Box::pin(
            async move { if order.limits { self.claim_limited(order).await } else { self.claim_rows(order).await } },
        )
    }

    fn unblock<'a>(&'a self, keys: &'a [(String, u32)]) -> Pending<'a, BTreeSet<String>> {
        Box::pin(self.unblock_keys(keys))
    }

    fn blocked<'a>(&'a self, after: &'a str, limit: u32) -> Pending<'a, Vec<String>> {
        Box::pin(self.blocked_causes(after, limit))
    }

    fn define_limits<'a>(&'a self, limits: &'a [LimitDef], by_operator: bool) -> Pending<'a, BTreeSet<String>> {
        Box::pin(self.define(limits, if by_operator { Saying::Operator } else { Saying::Boot }))
    }

    fn reset_limits<'a>(&'a self, limits: &'a [LimitDef]) -> Pending<'a, BTreeSet<String>> {
        Box::pin(self.define(limits, Saying::Reset))
    }

    fn limits(&self, keys: u32) -> Pending<'_, Vec<StoredLimit>> {
        Box::pin(self.limits_shown(keys))
    }

    fn queues(&self) -> Pending<'_, BTreeMap<String, QueueStanding>> {
        Box::pin(self.queues_shown())
    }

    fn pause_queue<'a>(&'a self, queue: &'a str, pause: bool) -> Pending<'a, bool> {
        Box::pin(self.pause_or_resume(queue, pause))
    }

    fn paused_queues(&self) -> Pending<'_, Vec<String>> {
        Box::pin(self.read_paused())
    }

    fn heal<'a>(&'a self, kind: LimitKind, after: &'a str, limit: u32) -> Pending<'a, Option<String>> {
        Box::pin(self.heal_counters(kind, after, limit))
    }

    fn commit<'a>(&'a self, batch: &'a [Transition]) -> Pending<'a, Commits> {
        Box::pin(self.commit_batch(batch))
    }

    fn renew<'a>(&'a self, claims: &'a [(InstanceId, ClaimToken)], lease: Duration) -> Pending<'a, Renewed> {
        Box::pin(self.renew_leases(claims, lease))
    }

    fn renew_one<'a>(&'a self, id: InstanceId, token: &'a ClaimToken, lease: Duration) -> Pending<'a, bool> {
        Box::pin(self.renew_one_lease(id, token, lease))
    }

    fn end_waits(&self, limit: u32) -> Pending<'_, Swept> {
        Box::pin(self.end_due_waits(limit))
    }

    fn schedules<'a>(&'a self, names: Option<&'a [String]>) -> Pending<'a, Schedules> {
        Box::pin(self.read_schedules(names))
    }

    fn due_schedules<'a>(
        &'a self,
        machines: &'a [String],
        after: Option<(Timestamp, &'a str)>,
        limit: u32,
    ) -> Pending<'a, DueSchedules> {
        Box::pin(self.read_due_schedules(machines, after, limit))
    }

    fn fire_schedules<'a>(&'a self, firings: &'a [Firing]) -> Pending<'a, Vec<Fired>> {
        Box::pin(self.fire_all(firings))
    }

    fn put_schedule<'a>(&'a self, put: &'a PutSchedule) -> Pending<'a, bool> {
        Box::pin(self.put_one_schedule(put))
    }

    fn change_schedule<'a>(&'a self, change: &'a ScheduleChange) -> Pending<'a, bool> {
        Box::pin(self.change_one_schedule(change))
    }

    fn remove_schedule<'a>(&'a self, name: &'a str, revision: i64) -> Pending<'a, bool> {
        Box::pin(self.remove_one_schedule(name, revision))
    }

    fn know_schedules<'a>(&'a self, names: &'a [String]) -> Pending<'a, ()> {
        Box::pin(self.know_some_schedules(names))
    }

    fn reap(&self, limit: u32) -> Pending<'_, Swept> {
        Box::pin(self.reap_expired(limit))
    }

    fn owners(&self) -> Pending<'_, Vec<String>> {
        Box::pin(self.claim_owners())
    }

    fn reclaim<'a>(&'a self, owner: &'a str, limit: u32) -> Pending<'a, Swept> {
        Box::pin(self.reclaim_from(owner, limit))
    }

    fn start<'a>(&'a self, starts: &'a [StartSpec]) -> Pending<'a, Vec<Started>> {
        Box::pin(self.start_all(starts))
    }

    fn cancel<'a>(&'a self, targets: &'a [Target], reason: &'a str) -> Pending<'a, Vec<Cancelling>> {
        Box::pin(self.cancel_all(targets, reason))
    }

    fn cancel_children(&self, parent: InstanceId, round: Option<i64>, limit: u32) -> Pending<'_, ToldChildren> {
        Box::pin(self.cancel_some_children(parent, round, limit))
    }

    fn retry<'a>(&'a self, target: &'a Target) -> Pending<'a, Retrying> {
        Box::pin(self.retry_one(target))
    }

    fn signal<'a>(&'a self, signals: &'a [SignalSpec]) -> Pending<'a, Vec<Delivery>> {
        Box::pin(self.signal_all(signals))
    }

    fn signal_free<'a>(&'a self, signals: &'a [SignalSpec]) -> Pending<'a, Vec<Option<Delivery>>> {
        // There are no row locks: nobody is held.
        Box::pin(async { Ok(self.signal_all(signals).await?.into_iter().map(Some).collect()) })
    }

    fn signal_or_start<'a>(&'a self, start: &'a StartSpec, signal: &'a SignalSpec) -> Pending<'a, (Started, Delivery)> {
        Box::pin(self.signal_or_start_one(start, signal))
    }

    fn child_counts(&self, parent: InstanceId, round: i64) -> Pending<'_, Vec<(String, ChildCounts)>> {
        Box::pin(inspect::child_counts(self, parent, round))
    }

    fn children<'a>(&'a self, page: &'a ChildPage<'a>) -> Pending<'a, Vec<ChildResult>> {
        Box::pin(inspect::children(self, page))
    }

    fn kin_counts(&self, parent: InstanceId, all_rounds: bool) -> Pending<'_, ChildCounts> {
        Box::pin(inspect::kin_counts(self, parent, all_rounds))
    }

    fn kin<'a>(&'a self, page: &'a KinPage<'a>) -> Pending<'a, Vec<Child>> {
        Box::pin(inspect::kin(self, page))
    }

    fn history(&self, id: InstanceId, after: i64, limit: u32) -> Pending<'_, Vec<HistoryEntry>> {
        Box::pin(inspect::history(self, id, after, limit))
    }

    fn forget(&self, age: Duration, limit: u32) -> Pending<'_, usize> {
        Box::pin(self.forget_lines(age, limit))
    }

    fn purge<'a>(&'a self, purge: &'a Purge<'a>) -> Pending<'a, Purged> {
        Box::pin(self.purge_piece(purge))
    }

    fn expire_keys<'a>(&'a self, expiry: &'a KeyExpiry<'a>) -> Pending<'a, ExpiredKeys> {
        Box::pin(self.expire_some_keys(expiry))
    }

    fn endings<'a>(&'a self, ids: &'a [InstanceId]) -> Pending<'a, Vec<Standing>> {
        Box::pin(inspect::endings(self, ids))
    }

    fn show<'a>(&'a self, target: &'a Target) -> Pending<'a, Option<Snapshot>> {
        Box::pin(inspect::show(self, target))
    }

    fn list<'a>(&'a self, filter: &'a Filter) -> Pending<'a, Vec<Snapshot>> {
        Box::pin(inspect::list(self, filter))
    }

    fn notify<'a>(&'a self, queues: &'a [String]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.0.hub.send(queues);
            Ok(())
        })
    }

    /// A caller's commit is seen by the look at the file.
    fn transactions<'a>(&'a self, _xids: &'a [String]) -> Pending<'a, Vec<(String, CallerTransaction)>> {
        Box::pin(async { Ok(vec![]) })
    }

    fn wake_ups(&self) -> Pending<'_, Option<Box<dyn WakeUps>>> {
        Box::pin(async move { Ok((!self.is_lent()).then(|| Box::new(self.listen()) as Box<dyn WakeUps>)) })
    }

    fn check(&self) -> Pending<'_, ()> {
        Box::pin(migrate::check(self))
    }

    fn migrate<'a>(&'a self, migration: &'a Migration) -> Pending<'a, Vec<String>> {
        Box::pin(migrate::migrate(self, migration))
    }

    fn copy_side(&self, role: Role) -> Pending<'_, Box<dyn Side>> {
        Box::pin(self.open_side(role))
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            if self.is_lent() {
                return Ok(());
            }
            if let Some(readers) = &self.0.readers {
                readers.close().await;
            }
            // Last, so that it empties the log into the file.
            self.0.writer.close().await;
            Ok(())
        })
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn url(&self) -> &str {
        self.0.file.url()
    }

    fn describe(&self) -> String {
        format!("sqlite {}", self.0.file)
    }

    fn dialect(&self) -> &'static str {
        "sqlite"
    }

    fn warnings(&self, _concurrency: usize) -> Vec<String> {
        vec![]
    }
}
