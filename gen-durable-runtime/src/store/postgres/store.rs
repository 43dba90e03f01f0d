use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use sqlx::{Connection, PgPool};

use super::{error, inspect, listen, migrate, sql::Statements};
#[cfg(feature = "testing")]
use crate::store::{clock::Clock, lent::Lent};
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
        PutSchedule, QueueStanding, Renewed, Retrying, ScheduleChange, Schedules, SchemaName, Standing, Store,
        StoredLimit, Swept, ToldChildren, WakeUps,
        copy::{Role, Side},
        limiting::Saying,
    },
};

/// How long a boot waits for a connection.
const CONNECT: Duration = Duration::from_secs(10);
const CONNECTING: &str = "connecting to the database";

/// The Postgres store: one pool of connections, one set of statements.
#[derive(Clone)]
pub struct Postgres(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) pool: PgPool,
    pub(super) statements: Statements,
    pub(super) options: DatabaseOptions,
    /// `"schema".gen_durable` and `"schema".signals`, as their sequences are looked up.
    pub(super) tables: [String; 3],
    /// Everything happens in here, and nothing is committed.
    #[cfg(feature = "testing")]
    pub(super) lent: Option<super::lent::Within>,
}

impl Postgres {
    /// Opens a pool; connects with the first call.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub fn new(options: DatabaseOptions) -> Result<Self, Error> {
        let pool = options.pool()?;
        let statements = Statements::new(&options.schema);
        let tables = ["gen_durable", "signals", "gen_durable_history"];
        let tables = tables.map(|table| format!("{}.{table}", options.schema.quoted()));
        Ok(Self(Arc::new(Inner {
            pool,
            statements,
            options,
            tables,
            #[cfg(feature = "testing")]
            lent: None,
        })))
    }

    /// The same database, seen and written from within this transaction alone, which wakes nobody: for tests.
    #[cfg(feature = "testing")]
    pub(crate) fn lend(&self, lent: Lent<sqlx::Postgres>, clock: Clock) -> Self {
        let Inner { pool, statements, options, tables, .. } = &*self.0;
        let (pool, statements, lent) = (pool.clone(), statements.standing(), Some(super::lent::Within { lent, clock }));
        Self(Arc::new(Inner { pool, statements, options: options.clone(), tables: tables.clone(), lent }))
    }

    /// Whether it is only lent, and its connections are another's to close.
    pub(super) fn is_lent(&self) -> bool {
        #[cfg(feature = "testing")]
        return self.0.lent.is_some();
        #[cfg(not(feature = "testing"))]
        false
    }

    /// The schema the tables live in.
    pub fn schema(&self) -> &SchemaName {
        &self.0.options.schema
    }

    /// The pool of the engine's own statements.
    pub fn pool(&self) -> &PgPool {
        &self.0.pool
    }

    pub(super) fn statements(&self) -> &Statements {
        &self.0.statements
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Postgres").field(&self.describe()).finish()
    }
}

impl Store for Postgres {
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
        Box::pin(self.sweep("taking back claims", self.statements().reclaim(), Some(owner), limit))
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
        Box::pin(self.signal_free(signals))
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
        Box::pin(listen::notify(self, queues))
    }

    fn transactions<'a>(&'a self, xids: &'a [String]) -> Pending<'a, Vec<(String, CallerTransaction)>> {
        Box::pin(inspect::transactions(self, xids))
    }

    fn wake_ups(&self) -> Pending<'_, Option<Box<dyn WakeUps>>> {
        Box::pin(listen::wake_ups(self))
    }

    fn check(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            // Not from the pool: that hides a refused connection behind a time-out of its own.
            let options = self.0.options.connect()?;
            let connect = tokio::time::timeout(CONNECT, sqlx::PgConnection::connect_with(&options)).await;
            let connection = connect.map_err(|_| error::timed_out(CONNECTING))?;
            let mut connection = connection.map_err(error::at(CONNECTING))?;
            // In one transaction: a pooler could answer each statement from another connection.
            let mut tx = connection.begin().await.map_err(error::at(CONNECTING))?;
            migrate::check(&mut tx, self.schema()).await?;
            tx.rollback().await.map_err(error::at(CONNECTING))?;
            connection.close().await.map_err(error::at(CONNECTING))
        })
    }

    fn migrate<'a>(&'a self, migration: &'a Migration) -> Pending<'a, Vec<String>> {
        Box::pin(async move {
            let plan = match migration.to {
                Some(version) => migrate::Plan::to_seed(version),
                None => migrate::Plan::latest(),
            };
            let plan = plan.allow_rewrite(migration.allow_rewrite);
            let report = migrate::migrate(&self.0.options.connect()?, self.schema(), &plan).await?;
            Ok(report.steps.iter().map(ToString::to_string).collect())
        })
    }

    fn copy_side(&self, role: Role) -> Pending<'_, Box<dyn Side>> {
        Box::pin(self.open_side(role))
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            if !self.is_lent() {
                self.0.pool.close().await;
            }
            Ok(())
        })
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn url(&self) -> &str {
        &self.0.options.url
    }

    fn describe(&self) -> String {
        let Ok(options) = self.0.options.connect() else { return "postgres".into() };
        let host = options.get_socket().map_or_else(|| options.get_host().to_owned(), |s| s.display().to_string());
        let database = options.get_database().unwrap_or(options.get_username());
        match self.schema().as_str() {
            "public" => format!("postgres {database} on {host}"),
            schema => format!("postgres {database} on {host}, schema {schema}"),
        }
    }

    fn dialect(&self) -> &'static str {
        "postgres"
    }

    fn warnings(&self, concurrency: usize) -> Vec<String> {
        let size = self.0.options.pool_size;
        let pool = (size < 4).then(|| {
            format!("a pool of {size} connections for {concurrency} concurrent steps: claims, commits and renewals wait for each other; 4 or more are better")
        });
        let pooler = self.0.options.transaction_pooler.then(|| {
            "behind a transaction pooler: no LISTEN, wake-ups come by the poll; give a direct URL for lower latency"
                .to_owned()
        });
        pool.into_iter().chain(pooler).collect()
    }
}
