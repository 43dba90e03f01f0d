//! Each statement looks its rows up by the index it names: on an empty file, and with statistics of a full one.

use sqlx::{Connection, Row, SqliteConnection};

use super::sql;

const SCHEMA: [&str; 3] = [
    include_str!("migrate/versions/v1/up.sql"),
    include_str!("migrate/versions/v2/up.sql"),
    include_str!("migrate/versions/v3/up.sql"),
];

/// The statements, and the indexes they must use, in any order.
fn expected() -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    vec![
        (
            "claim",
            sql::claim(),
            &["gen_durable_pick (queue=? AND priority=? AND eligible_at<?)", "gen_durable_concurrency_active"],
        ),
        ("candidates", sql::candidates(), &["gen_durable_pick (queue=?", "gen_durable_concurrency_active"]),
        (
            "claim_crowd",
            sql::claim_crowd(),
            &["gen_durable_pick (queue=? AND priority=? AND eligible_at<?)", "gen_durable_concurrency_active"],
        ),
        ("limits", sql::limits(), &["gen_durable_bucket_configs"]),
        ("buckets", sql::buckets(), &["gen_durable_buckets_1 (kind=? AND key=?)"]),
        ("buckets_drop", sql::buckets_drop(), &["gen_durable_buckets_1 (kind=? AND key=?)"]),
        ("set_aside", sql::set_aside(), &["INTEGER PRIMARY KEY"]),
        ("credit", sql::credit(), &["gen_durable_buckets_1 (kind=? AND key=? AND shard=?)"]),
        ("release_held", sql::release_held(), &["PRIMARY KEY (instance_id=?)"]),
        ("unblock", sql::unblock(), &["gen_durable_blocked (blocked_by=?)"]),
        (
            "unblock_free",
            sql::unblock_free(),
            &["gen_durable_concurrency_active", "gen_durable_buckets_1 (kind=? AND key=?)"],
        ),
        (
            "unblock_name",
            sql::unblock_name(),
            &["gen_durable_blocked (blocked_by=?)", "gen_durable_blocked (blocked_by>? AND blocked_by<?)"],
        ),
        ("blocked", sql::blocked(), &["gen_durable_blocked (blocked_by>?)"]),
        (
            "counters",
            sql::counters(),
            &["gen_durable_buckets_1 (kind=? AND key>?)", "gen_durable_buckets_1 (kind=? AND key=?)"],
        ),
        (
            "slots_taken",
            sql::slots_taken(),
            &["gen_durable_lease", "gen_durable_held_key (key=?)", "INTEGER PRIMARY KEY"],
        ),
        ("claim_take", sql::claim_take(), &["INTEGER PRIMARY KEY", "signals_", "gen_durable_parent"]),
        ("claim_exits", sql::claim_exits(), &["INTEGER PRIMARY KEY", "signals_"]),
        ("claim_signals", sql::claim_signals(), &["INTEGER PRIMARY KEY"]),
        (
            "claim_next",
            sql::claim_next(),
            &[
                "gen_durable_pick (queue=?)",
                "gen_durable_await_deadline",
                "gen_durable_join_deadline",
                "gen_durable_deadline",
            ],
        ),
        ("strangers", sql::strangers(), &["gen_durable_pick (queue=? AND priority=? AND eligible_at<?)"]),
        ("strangers_aside", sql::strangers_aside(), &["INTEGER PRIMARY KEY"]),
        ("unblock_codes", sql::unblock_codes(), &["gen_durable_blocked (blocked_by=?)"]),
        (
            "surroundings",
            sql::surroundings(),
            &["INTEGER PRIMARY KEY", "gen_durable_lease", "gen_durable_held_key (key=?)"],
        ),
        ("worker_put", sql::worker_put(), &[]),
        ("worker_put_gone", sql::worker_put_gone(), &["SCAN gen_durable_workers"]),
        ("worker_seen", sql::worker_seen(), &["PRIMARY KEY (name=?)"]),
        ("worker_remove", sql::worker_remove(), &["PRIMARY KEY (name=?)"]),
        ("workers", sql::workers(), &["SCAN w"]),
        ("cancel", sql::cancel(), &["INTEGER PRIMARY KEY"]),
        ("cancel_children", sql::cancel_children(), &["gen_durable_parent"]),
        ("retry", sql::retry(), &["INTEGER PRIMARY KEY"]),
        ("retry_occupant", sql::retry_occupant(), &["INTEGER PRIMARY KEY", "gen_durable_correlation"]),
        ("hold", sql::hold(), &["INTEGER PRIMARY KEY"]),
        ("history", sql::history(), &["gen_durable_history_instance (instance_id=? AND id>?)"]),
        ("join", sql::join(), &["INTEGER PRIMARY KEY"]),
        ("join_counted", sql::join_counted(), &["INTEGER PRIMARY KEY"]),
        ("child_counts", sql::child_counts(), &["gen_durable_parent"]),
        ("kin", sql::kin(), &["gen_durable_parent"]),
        ("kin_counts", sql::kin_counts(), &["gen_durable_parent"]),
        ("children", sql::children(), &["gen_durable_parent"]),
        ("commit", sql::commit(), &["INTEGER PRIMARY KEY", "signals_", "gen_durable_correlation"]),
        ("commit_plain", sql::commit_plain(), &["INTEGER PRIMARY KEY", "gen_durable_correlation"]),
        ("consume_kept", sql::consume_kept(), &["INTEGER PRIMARY KEY"]),
        ("consume", sql::consume(), &["INTEGER PRIMARY KEY"]),
        ("consume_inbox", sql::consume_inbox(), &["signals_target"]),
        (
            "end_waits",
            sql::end_waits(),
            &[
                "gen_durable_await_deadline (await_deadline<?)",
                "gen_durable_join_deadline (await_deadline<?)",
                "gen_durable_deadline (deadline_at>? AND deadline_at<?)",
            ],
        ),
        (
            "end_waits_next",
            sql::end_waits_next(),
            &["gen_durable_await_deadline", "gen_durable_join_deadline", "gen_durable_deadline"],
        ),
        ("ended", sql::ended(), &["INTEGER PRIMARY KEY"]),
        ("list", sql::list(), &["INTEGER PRIMARY KEY (rowid<?)"]),
        (
            "limits_shown",
            sql::limits_shown(),
            &["gen_durable_blocked (blocked_by=?)", "gen_durable_blocked (blocked_by>?"],
        ),
        ("limits_keys", sql::limits_keys(), &["gen_durable_blocked (blocked_by=?)", "(kind=? AND name=?)"]),
        (
            "queues_shown",
            sql::queues_shown(),
            &[
                "gen_durable_pick (queue=? AND priority>?)",
                "gen_durable_pick (queue>?)",
                "gen_durable_pick (queue=? AND priority=? AND eligible_at<?)",
            ],
        ),
        ("queue_resume", sql::queue_resume(), &["(queue=?)"]),
        ("owners", sql::owners(), &["gen_durable_lease"]),
        ("purge_look", sql::purge_look(), &["gen_durable_gc (updated_at>? AND updated_at<?)", "INTEGER PRIMARY KEY"]),
        ("purge_hold", sql::purge_hold(), &["INTEGER PRIMARY KEY", "signals_target"]),
        ("purge_children", sql::purge_children(), &["gen_durable_parent (parent_id=?)", "INTEGER PRIMARY KEY"]),
        ("purge_lines", sql::purge_lines(), &["gen_durable_history_instance (instance_id=?)", "INTEGER PRIMARY KEY"]),
        (
            "purge",
            sql::purge(),
            &[
                "INTEGER PRIMARY KEY",
                "gen_durable_history_instance (instance_id=?)",
                "gen_durable_parent (parent_id=?)",
            ],
        ),
        (
            "expire_keys_look",
            sql::expire_keys_look(),
            &["s USING INTEGER PRIMARY KEY (rowid>?)", "g USING INTEGER PRIMARY KEY"],
        ),
        ("expire_keys", sql::expire_keys(), &["INTEGER PRIMARY KEY"]),
        ("reap", sql::reap(), &["gen_durable_lease (lease_expires_at<?)", "INTEGER PRIMARY KEY"]),
        ("reclaim", sql::reclaim(), &["gen_durable_lease", "INTEGER PRIMARY KEY"]),
        ("renew", sql::renew(), &["INTEGER PRIMARY KEY"]),
        ("schedules_due", sql::schedules_due(), &["gen_durable_schedules_next (fsm=?"]),
        ("schedules_due_next", sql::schedules_due_next(), &["gen_durable_schedules_next (fsm=?"]),
        ("schedules_hold", sql::schedules_hold(), &["gen_durable_schedules_1 (name=?)"]),
        ("schedules_named", sql::schedules_named(), &["gen_durable_schedules_1 (name=?)"]),
        ("schedules_move", sql::schedules_move(), &["gen_durable_schedules_1 (name=?)"]),
        ("schedules_change", sql::schedules_change(), &["gen_durable_schedules_1 (name=?)"]),
        ("schedules_remove", sql::schedules_remove(), &["gen_durable_schedules_1 (name=?)"]),
        ("schedules_known", sql::schedules_known(), &["gen_durable_schedules_1 (name=?)"]),
        ("show", sql::show(), &["INTEGER PRIMARY KEY", "gen_durable_correlation"]),
        ("signal_targets", sql::signal_targets(), &["INTEGER PRIMARY KEY", "gen_durable_correlation"]),
        ("signal_wake", sql::signal_wake(), &["INTEGER PRIMARY KEY", "signals_"]),
        ("stand", sql::stand(), &["INTEGER PRIMARY KEY"]),
        ("start_occupants", sql::start_occupants(), &["gen_durable_correlation"]),
    ]
}

async fn plan(connection: &mut SqliteConnection, statement: &'static str) -> Vec<String> {
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explain).fetch_all(connection).await.expect(statement);
    rows.iter().map(|row| row.get::<String, _>("detail")).collect()
}

async fn check(connection: &mut SqliteConnection, at: &str) {
    for (name, statement, indexes) in expected() {
        let plan = plan(connection, statement).await;
        for index in indexes {
            assert!(plan.iter().any(|line| line.contains(index)), "{at}: {name} does not use {index}: {plan:#?}");
        }
        // A partial index that is walked as a whole holds only what the statement is about.
        let whole = |line: &&String| line.starts_with("SCAN") && !line.contains("json_each");
        let whole: Vec<_> = plan.iter().filter(whole).filter(|l| !allowed(l)).collect();
        assert!(whole.is_empty(), "{at}: {name} walks a whole table: {plan:#?}");
    }
}

/// Sub-queries that were made into tables are as large as the batch; executing rows are those in flight; whether there is
/// `one` row ends at the first.
fn allowed(line: &str) -> bool {
    [
        "CONSTANT",
        "levels",
        "causes",
        "(subquery",
        "VIRTUAL TABLE",
        "SCAN i",
        "SCAN r",
        "SCAN lost",
        "SCAN p",
        "SCAN e",
        "SCAN d",
        "SCAN one",
        "SCAN back",
        "SCAN t",
        "SCAN this",
        "SCAN head",
        "SCAN holders",
        "SCAN live",
        "SCAN w",
        "SCAN gen_durable_workers",
        "SCAN seen",
        // What an operator asks for walks a bounded part, or a table of a few rows.
        "SCAN limits",
        "SCAN b",
        "SCAN counters",
        "SCAN paused",
        "SCAN used",
        "SCAN ranked",
        "SCAN due",
        "SCAN aside",
        "SCAN newest",
        "SCAN first",
    ]
    .iter()
    .any(|text| line.contains(text))
        || line.contains("gen_durable_lease")
        || line.contains("gen_durable_await_deadline")
        || line.contains("gen_durable_join_deadline")
        || line.contains("gen_durable_deadline")
}

const FILL: &str = include_str!("plan_tests.sql");

#[tokio::test]
async fn every_statement_uses_its_index_whatever_statistics_say() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.expect("memory");
    for version in SCHEMA {
        sqlx::raw_sql(version).execute(&mut connection).await.expect("the schema");
    }
    check(&mut connection, "empty").await;
    sqlx::raw_sql("ANALYZE").execute(&mut connection).await.expect("analyzes");
    check(&mut connection, "empty, analyzed").await;
    sqlx::raw_sql(FILL).execute(&mut connection).await.expect("fills");
    check(&mut connection, "full, analyzed").await;
}
