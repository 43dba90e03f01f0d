//! The commonest outcomes go by a statement of few columns: it leaves what the one of all columns leaves.

use std::time::Duration;

use gen_durable_runtime::model::{
    Claim, Committed, ConcurrencySlot, Entry, Json, RateTake, Transition, Verdict,
    plan::{self, Rules},
};
use serde_json::Value;
use suite::{Db, entry, start};

use crate::claims::{RULES, begin, claim};

suite::stores! {
    both {
        a_plain_batch_leaves_the_rows_that_a_mixed_one_leaves,
    }
    postgres {
        starts_that_are_alike_leave_the_rows_that_mixed_ones_leave => "one statement there for all",
        a_row_whose_key_was_taken_fails_in_a_plain_batch_too => "no other engine keeps its rows in a file",
    }
}

/// How a row may stand while it executes.
const STANDS: [&str; 5] = [
    "status = status",
    "attempt = 3, errors = 2, crashes = 1, last_error = 'old', received = '{}', awaits = '{s}', await_mode = 2, await_need = 1,
     await_groups = '{0}', await_deadline = now() + interval '1 d', children_pending = 2, children_done = 1, children_quorum = 1,
     carry = '[1]', result = '1'",
    "expires = true, deadline_at = now() + interval '1 d', exit_signals = '{x}', shielded = true, rate_limit = 'r:k', weight = 2,
     concurrency_key = 'c:k' || id, home_queue = 'home', home_priority = 3, priority = 4",
    "shielded = true, cancelled_at = now(), cancel_reason = 'enough'",
    "cancelled_at = now(), cancel_reason = 'enough', expired_at = now()",
];

const WAYS: [&str; 6] = ["in place", "requeued", "delayed", "under limits", "done", "done with a carry"];

fn outcome(way: &str, claim: &Claim) -> Transition {
    let goto = |entry: Entry, delay: u64| Verdict::Goto { entry, delay: Duration::from_secs(delay), carry: None };
    let limited = Entry {
        concurrency: Some(ConcurrencySlot { key: format!("c:{}", claim.id), limit: None }),
        rate: Some(RateTake { key: "r:new".into(), weight: 3.0, weight_max: 3.0 }),
        ..entry("b")
    };
    let verdict = match way {
        "in place" | "requeued" => goto(entry("b"), 0),
        "delayed" => goto(entry("b"), 1_000_000),
        "under limits" => goto(limited, 0),
        "done" => Verdict::Done { result: Json::stored("7"), carry: None },
        _ => Verdict::Done { result: Json::stored("7"), carry: Some(Json::stored(r#"{"c":2}"#)) },
    };
    let rules = Rules { may_continue: way == "in place", ..RULES };
    let started = Some("2020-01-01T00:00:00Z".parse().expect("a time"));
    Transition { started, ..plan::outcome(claim, verdict, rules).expect("a plan") }
}

fn again(claim: &Claim) -> Transition {
    plan::outcome(claim, Verdict::RetryIn(Duration::ZERO), RULES).expect("a plan")
}

/// What an outcome may write, or must leave alone.
const COLUMNS: [&str; 37] = [
    "status",
    "fsm_version",
    "step",
    "state",
    "carry",
    "result",
    "last_error",
    "queue",
    "priority",
    "rate_limit",
    "weight",
    "awaits",
    "await_mode",
    "await_need",
    "await_groups",
    "await_deadline",
    "children_pending",
    "children_done",
    "children_quorum",
    "shielded",
    "expires",
    "exit_signals",
    "expired_at",
    "deadline_at",
    "received",
    "attempt",
    "errors",
    "crashes",
    "transitions",
    "counted",
    "cancelled_at",
    "cancel_reason",
    "correlation_scope",
    "home_queue",
    "home_priority",
    "blocked_by",
    "due_at",
];

/// The row and its line of history, without what no two rows share.
async fn left(db: &Db, claim: &Claim) -> Value {
    let (object, array) = match db.store.dialect() {
        "postgres" => ("json_build_object", "json_build_array"),
        _ => ("json_object", "json_array"),
    };
    let columns = COLUMNS.map(|column| format!("'{column}', {column}")).join(", ");
    let sql = format!(
        "SELECT CAST({object}({columns}, 'later', eligible_at > now() + interval '1 h', 'now', eligible_at = updated_at,
            'leased', lease_expires_at IS NOT NULL, 'written', updated_at > inserted_at,
            'key', replace(concurrency_key, CAST(id AS text), 'id'),
            'history', (SELECT {array}(h.visit, h.from_step, h.to_step, h.outcome, h.attempt, h.started_at, h.error)
                        FROM gen_durable_history h WHERE h.instance_id = g.id)) AS text)
         FROM gen_durable g WHERE id = {}",
        claim.id
    );
    serde_json::from_str(&db.text(sql).await).expect("a row")
}

async fn a_plain_batch_leaves_the_rows_that_a_mixed_one_leaves(db: Db) {
    for (stand, stands) in STANDS.iter().enumerate() {
        for way in WAYS {
            let at = format!("{way}, stand {stand}");
            begin(&db, &[start(), start(), start()]).await;
            let claims = claim(&db, 3, &format!("{stand}#{way}")).await;
            let [alone, mixed, other] = claims.as_slice() else { panic!("{at}: three claims") };
            db.run(format!("UPDATE gen_durable SET {stands} WHERE id IN ({}, {})", alone.id, mixed.id)).await;
            let ours = db.store.commit(&[outcome(way, alone)]).await.expect("commits")[0];
            // Few plain ones go with the others.
            let theirs = db.store.commit(&[outcome(way, mixed), again(other)]).await.expect("commits")[0];
            assert_eq!(ours, theirs, "{at}");
            assert!(ours != Committed::ClaimLost && ours != Committed::Busy, "{at}: {ours:?}");
            assert_eq!(left(&db, alone).await, left(&db, mixed).await, "{at}");
            db.run("DELETE FROM gen_durable_history; DELETE FROM gen_durable").await;
        }
    }
}

/// Only another engine's scopes let a row give its key up while it executes.
async fn a_row_whose_key_was_taken_fails_in_a_plain_batch_too(db: Db) {
    for way in WAYS {
        begin(&db, &[start(), start(), start()]).await;
        let claims = claim(&db, 3, &format!("taken#{way}")).await;
        let [alone, mixed, other] = claims.as_slice() else { panic!("three claims") };
        for (claim, key) in [(alone, "k1"), (mixed, "k2")] {
            db.run(format!(
                "UPDATE gen_durable SET correlation_key = '{key}', correlation_scope = '{{runnable}}' WHERE id = {}",
                claim.id
            ))
            .await;
            db.run(format!("INSERT INTO gen_durable (fsm, step, correlation_key, correlation_scope) VALUES ('n', 'a', '{key}', '{{runnable}}')"))
                .await;
        }
        let ours = db.store.commit(&[outcome(way, alone)]).await.expect("commits")[0];
        let theirs = db.store.commit(&[outcome(way, mixed), again(other)]).await.expect("commits")[0];
        assert_eq!(ours, theirs, "{way}");
        let (ours, theirs) = (left(&db, alone).await, left(&db, mixed).await);
        let fails = !matches!(way, "in place" | "done" | "done with a carry");
        assert_eq!(ours["status"] == "failed", fails, "{way}: {ours}");
        assert_eq!(ours, theirs, "{way}");
        db.run("DELETE FROM gen_durable_history; DELETE FROM gen_durable").await;
    }
}

/// All of it, but for what no two rows share.
#[cfg(feature = "postgres")]
const STARTED: &str = "SELECT coalesce(string_agg(((to_jsonb(g) - '{id,inserted_at,updated_at,eligible_at}'::text[])
    || jsonb_build_object('due', eligible_at = inserted_at))::text, E'\n' ORDER BY g.id), '') FROM gen_durable g
    WHERE g.id = ANY ('{ids}')";

#[cfg(feature = "postgres")]
async fn starts_that_are_alike_leave_the_rows_that_mixed_ones_leave(db: Db) {
    use crate::plans::{cost, reset};
    use gen_durable_runtime::model::StartSpec;
    let of = |n: usize| StartSpec {
        entry: Entry { state: Json::stored(format!(r#"{{"n":{n}}}"#)), ..entry("a") },
        ..start()
    };
    let ways: [fn(StartSpec) -> StartSpec; 4] = [
        |s| s,
        |s| StartSpec { queue: Some("own".into()), priority: Some(-3), ..s },
        |s| StartSpec { carry: Some(Json::stored(r#"{"c":1}"#)), version: 7, ..s },
        |s| StartSpec {
            entry: Entry { queue: Some("steps"), priority: Some(9), ..s.entry },
            defaults: ("other", 5),
            ..s
        },
    ];
    for way in ways {
        let alike: Vec<StartSpec> = (0..3).map(|n| way(of(n))).collect();
        let mut mixed = alike.clone();
        mixed.push(StartSpec { delay: Duration::from_secs(1), ..start() });
        let mut rows = Vec::new();
        for (starts, plain) in [(&alike, 1), (&mixed, 0)] {
            reset(&db).await;
            let started = db.store.start(starts).await.expect("starts");
            assert_eq!(cost(&db, "pg_get_serial_sequence($10").await.0, plain);
            let ids: Vec<String> = started[..3].iter().map(|s| s.id().to_string()).collect();
            rows.push(db.text(STARTED.replace("ids", &ids.join(","))).await);
        }
        assert_eq!(rows[0].lines().count(), 3, "{}", rows[0]);
        assert_eq!(rows[0], rows[1]);
        for (n, line) in rows[0].lines().enumerate() {
            assert!(line.contains(&format!(r#"{{"n": {n}}}"#)), "each answer is of its own start: {line}");
        }
    }
}
