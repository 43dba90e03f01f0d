//! What the engine and the client ask of a database. One implementation a dialect; one suite for all.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    time::Duration,
};

use jiff::Timestamp;

use super::{
    CallerTransaction, Cancelling, ChildPage, ClaimOrder, Claimed, Commits, Delivery, Filter, KinPage, LimitDef,
    Renewed, Retrying, Standing, Swept, ToldChildren, WakeUps,
    operators::{QueueStanding, StoredLimit},
    retention::{ExpiredKeys, KeyExpiry, Purge},
    schedules::{DueSchedules, Fired, Firing, PutSchedule, ScheduleChange, Schedules},
};
use crate::{
    Error,
    machine::{ChildCounts, ChildResult},
    model::{
        Child, ClaimToken, HistoryEntry, InstanceId, Purged, SignalSpec, Snapshot, StartSpec, Started, Target,
        Transition, admission::LimitKind,
    },
};

/// A call under way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A database. Every call is one unit: it happened as a whole or, on an error, it did not; a transient error of a
/// write leaves open which, and [`Store::commit`] may then be called again with the same batch.
pub trait Store: super::WorkerStore + 'static {
    /// Leases due rows. On error no row is claimed, or they come back with their lease.
    fn claim<'a>(&'a self, order: &'a ClaimOrder<'a>) -> Pending<'a, Claimed>;

    /// Persists a batch; one answer each, in order. Never waits for a row: such a one is [`Committed::Busy`](crate::model::Committed::Busy).
    fn commit<'a>(&'a self, batch: &'a [Transition]) -> Pending<'a, Commits>;

    /// Extends leases, without waiting for a row; answers with those that were not extended.
    fn renew<'a>(&'a self, claims: &'a [(InstanceId, ClaimToken)], lease: Duration) -> Pending<'a, Renewed>;

    /// Extends one lease and waits for its row, for a bounded time; `false` when the claim is lost.
    fn renew_one<'a>(&'a self, id: InstanceId, token: &'a ClaimToken, lease: Duration) -> Pending<'a, bool>;

    /// Wakes rows that were set aside for these keys: as many as were freed and are free. Answers with their queues.
    fn unblock<'a>(&'a self, keys: &'a [(String, u32)]) -> Pending<'a, BTreeSet<String>>;

    /// What rows were set aside for, each once, in order, after this cause.
    fn blocked<'a>(&'a self, after: &'a str, limit: u32) -> Pending<'a, Vec<String>>;

    /// Makes limits known, and changes those that differ: all, when an operator says so, else only what no operator has set.
    /// Counters follow. Answers with the queues that may have work now.
    fn define_limits<'a>(&'a self, limits: &'a [LimitDef], by_operator: bool) -> Pending<'a, BTreeSet<String>>;

    /// Makes these limits what their code says, whatever an operator said. Counters follow. Answers with the queues that may have
    /// work now.
    fn reset_limits<'a>(&'a self, limits: &'a [LimitDef]) -> Pending<'a, BTreeSet<String>>;

    /// All limits as they stand, by kind and name, each with up to so many of its busiest keys.
    fn limits(&self, keys: u32) -> Pending<'_, Vec<StoredLimit>>;

    /// How the instances of each queue stand that has any, or is paused.
    fn queues(&self) -> Pending<'_, BTreeMap<String, QueueStanding>>;

    /// Pauses a queue, or lets it go on; whether that changed anything. Workers look once they are told.
    fn pause_queue<'a>(&'a self, queue: &'a str, pause: bool) -> Pending<'a, bool>;

    /// The queues that are paused.
    fn paused_queues(&self) -> Pending<'_, Vec<String>>;

    /// Lets the counters of idle keys go, up to `limit` keys of a kind, and sets those of gates to what really runs; answers with
    /// the last key, if there may be more.
    fn heal<'a>(&'a self, kind: LimitKind, after: &'a str, limit: u32) -> Pending<'a, Option<String>>;

    /// Ends up to `limit` waits whose time is up, and says when the next one is.
    fn end_waits(&self, limit: u32) -> Pending<'_, Swept>;

    /// These schedules, or all, as they stand, by name.
    fn schedules<'a>(&'a self, names: Option<&'a [String]>) -> Pending<'a, Schedules>;

    /// Up to `limit` schedules of these machines whose slot has come, by slot and name, after a given one; and when the next one
    /// does.
    fn due_schedules<'a>(
        &'a self,
        machines: &'a [String],
        after: Option<(Timestamp, &'a str)>,
        limit: u32,
    ) -> Pending<'a, DueSchedules>;

    /// Moves schedules to their next slots and starts the instances of those that have come, in one transaction; one answer
    /// each, in order. On an error nothing was moved and nothing started.
    fn fire_schedules<'a>(&'a self, firings: &'a [Firing]) -> Pending<'a, Vec<Fired>>;

    /// Makes a schedule or writes it anew; `false` when it is not as it was read.
    fn put_schedule<'a>(&'a self, put: &'a PutSchedule) -> Pending<'a, bool>;

    /// Pauses a schedule, lets it go on or notes an error; `false` when it is not as it was read.
    fn change_schedule<'a>(&'a self, change: &'a ScheduleChange) -> Pending<'a, bool>;

    /// Removes a schedule; `false` when it is not as it was read.
    fn remove_schedule<'a>(&'a self, name: &'a str, revision: i64) -> Pending<'a, bool>;

    /// Says that the code of a live worker has these schedules.
    fn know_schedules<'a>(&'a self, names: &'a [String]) -> Pending<'a, ()>;

    /// Takes back up to `limit` claims whose lease ended.
    fn reap(&self, limit: u32) -> Pending<'_, Swept>;

    /// The processes that hold claims.
    fn owners(&self) -> Pending<'_, Vec<String>>;

    /// Takes back up to `limit` claims of one process that is known to be dead.
    fn reclaim<'a>(&'a self, owner: &'a str, limit: u32) -> Pending<'a, Swept>;

    /// Inserts instances, all or none; one answer each, in order.
    fn start<'a>(&'a self, starts: &'a [StartSpec]) -> Pending<'a, Vec<Started>>;

    /// Asks instances to end; one answer each, in order.
    fn cancel<'a>(&'a self, targets: &'a [Target], reason: &'a str) -> Pending<'a, Vec<Cancelling>>;

    /// Asks up to `limit` children to end, of one round or of all, without waiting for a row.
    fn cancel_children(&self, parent: InstanceId, round: Option<i64>, limit: u32) -> Pending<'_, ToldChildren>;

    /// Lets a failed instance go on from the step that failed.
    fn retry<'a>(&'a self, target: &'a Target) -> Pending<'a, Retrying>;

    /// Delivers signals; one answer each, in order.
    fn signal<'a>(&'a self, signals: &'a [SignalSpec]) -> Pending<'a, Vec<Delivery>>;

    /// Delivers to whom nobody holds, without waiting; one answer each, in order: `None` when someone else holds the target, and
    /// nothing was delivered to it.
    fn signal_free<'a>(&'a self, signals: &'a [SignalSpec]) -> Pending<'a, Vec<Option<Delivery>>>;

    /// Delivers to the live occupant of the start's key, or starts and delivers; exactly one of both. `NoTarget` when the
    /// key is kept by one that has ended.
    fn signal_or_start<'a>(&'a self, start: &'a StartSpec, signal: &'a SignalSpec) -> Pending<'a, (Started, Delivery)>;

    /// How the children of a round stand, by machine.
    fn child_counts(&self, parent: InstanceId, round: i64) -> Pending<'_, Vec<(String, ChildCounts)>>;

    /// A page of the children of a round that have ended, in the order of the fan-out.
    fn children<'a>(&'a self, page: &'a ChildPage<'a>) -> Pending<'a, Vec<ChildResult>>;

    /// How all children of an instance stand, of its last round or of all.
    fn kin_counts(&self, parent: InstanceId, all_rounds: bool) -> Pending<'_, ChildCounts>;

    /// A page of all children of an instance, however they stand, in the order of their rounds and places.
    fn kin<'a>(&'a self, page: &'a KinPage<'a>) -> Pending<'a, Vec<Child>>;

    /// What became of the runs of an instance, oldest first: at most `limit` lines after the line `after`.
    fn history(&self, id: InstanceId, after: i64, limit: u32) -> Pending<'_, Vec<HistoryEntry>>;

    /// Forgets up to `limit` lines of history older than `age`.
    fn forget(&self, age: Duration, limit: u32) -> Pending<'_, usize>;

    /// Looks at instances that have ended and lets those go that may, with all that belongs to them: a piece, without waiting for
    /// a row. No parent goes before its children have forgotten it, and nobody whose parent may still read it.
    fn purge<'a>(&'a self, purge: &'a Purge<'a>) -> Pending<'a, Purged>;

    /// Lets dedup keys go that protect no longer: a piece.
    fn expire_keys<'a>(&'a self, expiry: &'a KeyExpiry<'a>) -> Pending<'a, ExpiredKeys>;

    /// How these instances stand; one that does not exist is left out.
    fn endings<'a>(&'a self, ids: &'a [InstanceId]) -> Pending<'a, Vec<Standing>>;

    /// One instance.
    fn show<'a>(&'a self, target: &'a Target) -> Pending<'a, Option<Snapshot>>;

    /// A page of instances, newest first.
    fn list<'a>(&'a self, filter: &'a Filter) -> Pending<'a, Vec<Snapshot>>;

    /// Wakes the workers of these queues, in every process.
    fn notify<'a>(&'a self, queues: &'a [String]) -> Pending<'a, ()>;

    /// What became of callers' own transactions.
    fn transactions<'a>(&'a self, xids: &'a [String]) -> Pending<'a, Vec<(String, CallerTransaction)>>;

    /// Opens a source of wake-ups; `None` when this store has none and the poll must do.
    fn wake_ups(&self) -> Pending<'_, Option<Box<dyn WakeUps>>>;

    /// Checks that this code can work on the schema that stands.
    fn check(&self) -> Pending<'_, ()>;

    /// Brings the schema to what is asked for; answers with a line for each step done.
    fn migrate<'a>(&'a self, migration: &'a Migration) -> Pending<'a, Vec<String>>;

    /// Opens one side of a copy, on a connection of its own; also after [`Store::close`]. Fails while anyone works here,
    /// and on SQLite while anyone has the file open, a pool of this store included.
    #[cfg(feature = "client")]
    fn copy_side(&self, role: super::copy::Role) -> Pending<'_, Box<dyn super::copy::Side>>;

    /// Closes every connection; later calls fail.
    fn close(&self) -> Pending<'_, ()>;

    /// The store itself, for what only one dialect has: a caller's own transaction.
    fn as_any(&self) -> &dyn std::any::Any;

    /// The database's URL, credentials included.
    fn url(&self) -> &str;

    /// What the boot line says: the database, without credentials.
    fn describe(&self) -> String;

    /// The dialect's name, as `store = ".."` of a machine says it.
    fn dialect(&self) -> &'static str;

    /// Warnings for the boot: a pool too small for the work, for example.
    fn warnings(&self, concurrency: usize) -> Vec<String>;
}

/// Where to bring the schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Migration {
    /// A version of the seed's schema, without our part; 0 takes everything down. `None` is the latest of all.
    pub to: Option<u32>,
    /// Whether a table above 1,000,000 rows may be rewritten, which stops all workers meanwhile.
    pub allow_rewrite: bool,
}
