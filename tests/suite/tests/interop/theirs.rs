//! What the Elixir engine writes, by plain SQL: with the columns of its schema, and no others.

use gen_durable::InstanceId;
use suite::Db;

/// That engine, at work in the queue `theirs`.
#[derive(Clone, Copy)]
pub struct Theirs<'d>(pub &'d Db);

/// What its inserts say of a row.
#[derive(Clone, Copy)]
pub struct Row<'r> {
    pub fsm: &'r str,
    pub step: &'r str,
    pub state: &'r str,
    pub queue: &'r str,
    /// A business key, and the statuses in which it is occupied.
    pub key: Option<(&'r str, &'r str)>,
    pub concurrency_key: Option<&'r str>,
    pub parent: Option<InstanceId>,
}

/// The scope that its inserts have by default.
pub const LIVE: &str = "runnable,executing,awaiting_signal,awaiting_children";

/// Who claims there: a scheduler, not a claim.
const WORKER: &str = "GenDurable:theirs@host#17-1";

impl<'r> Row<'r> {
    /// In our queue.
    pub fn ours(fsm: &'r str, step: &'r str, state: &'r str) -> Self {
        Self { fsm, step, state, queue: "ours", key: None, concurrency_key: None, parent: None }
    }

    /// Of a machine that only it knows.
    pub fn theirs() -> Self {
        Self { queue: "theirs", ..Self::ours("ElixirShop.Order", "start", r#"{"n": 1}"#) }
    }
}

/// SQL text, or NULL.
fn text(value: Option<&str>) -> String {
    value.map_or("NULL".into(), |value| format!("'{}'", value.replace('\'', "''")))
}

impl Theirs<'_> {
    pub async fn inserts(self, row: Row<'_>) -> InstanceId {
        let Row { fsm, step, state, queue, key, concurrency_key, parent } = row;
        let (key, scope) = key.map_or((None, ""), |(key, scope)| (Some(key), scope));
        let (key, concurrency_key) = (text(key), text(concurrency_key));
        let parent = parent.map_or("NULL".into(), |parent| parent.to_string());
        self.id(format!(
            "INSERT INTO gen_durable (fsm, fsm_version, step, state, queue, priority, concurrency_key, eligible_at,
               correlation_key, correlation_scope, rate_limit, weight, parent_id)
             VALUES ('{fsm}', 1, '{step}', '{state}', '{queue}', 0, {concurrency_key}, now(), {key},
               '{{{scope}}}', NULL, 1, {parent})
             RETURNING id::text"
        ))
        .await
    }

    /// Takes one row of its queue, whatever its machine is.
    pub async fn claims(self) -> Option<InstanceId> {
        let claimed = self
            .0
            .text(format!(
                "WITH claimed AS (
                   UPDATE gen_durable SET status = 'executing', locked_by = '{WORKER}',
                     lease_expires_at = now() + interval '30 s', updated_at = now()
                   WHERE id = (SELECT id FROM gen_durable WHERE queue = 'theirs' AND status = 'runnable'
                     AND eligible_at <= now() ORDER BY priority, eligible_at LIMIT 1 FOR UPDATE SKIP LOCKED)
                   RETURNING id)
                 SELECT coalesce((SELECT id::text FROM claimed), '')"
            ))
            .await;
        (!claimed.is_empty()).then(|| InstanceId::new(claimed.parse().expect("a number")))
    }

    /// Commits an outcome of its own claim: it clears the claim, and knows nothing of our columns.
    async fn commits(self, id: InstanceId, change: &str) {
        let done = format!(
            "WITH owned AS (
               UPDATE gen_durable SET {change}, locked_by = NULL, lease_expires_at = NULL, updated_at = now()
               WHERE id = {id} AND locked_by = '{WORKER}' AND status = 'executing' RETURNING 1)
             SELECT count(*) FROM owned"
        );
        assert_eq!(self.0.count(done).await, 1, "its claim of {id}");
    }

    pub async fn goes_on(self, id: InstanceId, step: &str, state: &str) {
        let change = format!(
            "step = '{step}', state = '{state}', status = 'runnable', eligible_at = now(), attempt = 0, awaits = NULL"
        );
        self.commits(id, &change).await;
    }

    /// What a step was handed stays in the inbox, and so do the names.
    pub async fn retries(self, id: InstanceId) {
        self.commits(id, "status = 'runnable', eligible_at = now(), attempt = attempt + 1").await;
    }

    /// Parks at a step until one of the names comes, for so many seconds or for ever.
    pub async fn parks(self, id: InstanceId, step: &str, state: &str, awaits: &str, seconds: Option<f64>) {
        let until = seconds.map_or("NULL".into(), |s| format!("now() + interval '{s} s'"));
        let change = format!(
            "step = '{step}', state = '{state}', awaits = '{{{awaits}}}', status = 'awaiting_signal', attempt = 0,
             eligible_at = now(), await_deadline = {until}"
        );
        self.commits(id, &change).await;
    }

    /// Parks for children that it has inserted. It leaves the deadline of an earlier wait where it is.
    pub async fn fans_out(self, id: InstanceId, step: &str, state: &str, children: &[Row<'_>]) -> Vec<InstanceId> {
        let mut ids = vec![];
        for child in children {
            ids.push(self.inserts(Row { parent: Some(id), ..*child }).await);
        }
        let change = format!(
            "step = '{step}', state = '{state}', children_pending = {}, status = 'awaiting_children', attempt = 0,
             eligible_at = now(), awaits = NULL",
            ids.len()
        );
        self.commits(id, &change).await;
        ids
    }

    pub async fn is_done(self, id: InstanceId, result: &str) {
        self.commits(id, &format!("status = 'done', result = '{result}', awaits = NULL")).await;
        self.0.run(format!("DELETE FROM signals WHERE target_id = {id}")).await;
        self.tells_parent_of(id).await;
    }

    async fn tells_parent_of(self, id: InstanceId) {
        let last = "p.children_pending - 1 <= 0 AND p.status = 'awaiting_children'";
        self.0
            .run(format!(
                "UPDATE gen_durable p SET children_pending = p.children_pending - 1,
                   status = CASE WHEN {last} THEN 'runnable' ELSE p.status END,
                   eligible_at = CASE WHEN {last} THEN now() ELSE p.eligible_at END, updated_at = now()
                 FROM gen_durable c WHERE c.id = {id} AND c.parent_id = p.id"
            ))
            .await;
    }

    /// Delivers, and wakes whoever waits for the name: whether the signal is new or not, and whatever else it waits for.
    pub async fn signals(self, id: InstanceId, name: &str, payload: &str, dedup: Option<&str>) {
        let woken = format!("g.status = 'awaiting_signal' AND '{name}' = ANY (g.awaits)");
        let delivered = format!(
            "WITH target AS (
               SELECT id FROM gen_durable WHERE id = {id} AND status NOT IN ('done', 'failed')
             ), delivered AS (
               INSERT INTO signals (target_id, name, payload, dedup_key) SELECT id, '{name}', '{payload}', {} FROM target
               ON CONFLICT (target_id, dedup_key) DO NOTHING
             ), woken AS (
               UPDATE gen_durable g SET status = CASE WHEN {woken} THEN 'runnable' ELSE g.status END,
                 eligible_at = CASE WHEN {woken} THEN now() ELSE g.eligible_at END,
                 updated_at = CASE WHEN {woken} THEN now() ELSE g.updated_at END
               FROM target WHERE g.id = target.id)
             SELECT count(*) FROM target",
            text(dedup)
        );
        assert_eq!(self.0.count(delivered).await, 1, "{id} is a target");
    }

    /// Takes back every claim whose lease ended, in all queues. It knows no crashes, only attempts.
    pub async fn reaps(self) -> i64 {
        self.changes(
            "UPDATE gen_durable SET status = 'runnable', locked_by = NULL, lease_expires_at = NULL,
               attempt = attempt + 1, updated_at = now()
             WHERE status = 'executing' AND lease_expires_at < now()",
        )
        .await
    }

    /// Wakes every park whose time is up, in all queues, and forgets when that was.
    pub async fn ends_waits(self) -> i64 {
        self.changes(
            "UPDATE gen_durable SET status = 'runnable', eligible_at = now(), await_deadline = NULL, updated_at = now()
             WHERE status = 'awaiting_signal' AND await_deadline < now()",
        )
        .await
    }

    /// Deletes what ended so many seconds ago, in all queues; a child only once its parent has ended.
    pub async fn collects(self, seconds: f64) -> i64 {
        self.changes(&format!(
            "DELETE FROM gen_durable g WHERE g.status IN ('done', 'failed')
               AND g.updated_at < now() - interval '{seconds} s'
               AND NOT EXISTS (SELECT FROM gen_durable p WHERE p.id = g.parent_id AND p.status NOT IN ('done', 'failed'))"
        ))
        .await
    }

    async fn changes(self, sql: &str) -> i64 {
        self.0.count(format!("WITH changed AS ({sql} RETURNING 1) SELECT count(*) FROM changed")).await
    }

    async fn id(self, sql: String) -> InstanceId {
        InstanceId::new(self.0.text(sql).await.parse().expect("a number"))
    }
}
