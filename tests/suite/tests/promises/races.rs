//! Races of the store, each driven through the order that once lost something.

use std::time::Duration;

use gen_durable_runtime::{
    model::{Committed, ConcurrencySlot, Entry, InstanceId, SignalSpec, StartSpec, Transition, Verdict, Wake, plan},
    store::Delivered,
};
use suite::{Db, entry, order, start};

use crate::claims::{RULES, begin, claim, goto, known, signal, waiting};

suite::stores! {
    both {
        of_two_claims_of_one_instance_in_a_batch_only_the_one_that_stands_counts,
        a_claim_that_met_only_rows_of_one_key_says_that_there_is_more,
        a_row_that_a_person_put_aside_for_ever_stops_nobody,
        a_signal_to_an_instance_that_is_due_wakes_its_queue_again,
    }
    both(flavor = "multi_thread") {
        a_park_never_passes_a_signal_that_commits_between_its_two_statements,
        claims_of_the_same_keys_in_opposite_orders_never_deadlock,
    }
    postgres {
        the_engines_sessions_are_read_committed_and_durable_whatever_the_role_defaults_to => "a file has no roles, and no defaults of theirs",
        all_but_claims_and_leases_is_flushed_before_it_is_answered => "`synchronous` of a file's connection is set for each call",
        a_renewal_waits_in_line_for_a_row_that_a_caller_holds_and_beats_the_reaper => "a file has no row locks: who holds it holds all of it",
    }
}

/// Parked rows whose inbox has what they wait for: nobody would ever wake them.
const STUCK: &str = "SELECT count(*) FROM gen_durable g WHERE status = 'awaiting_signal' AND EXISTS (
    SELECT FROM signals s WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.name = ANY (g.awaits))";

/// A signal that holds the row when the park locks its batch, and commits before the park is written: the statement
/// that writes has an older snapshot than that. Only what the first lock held may park.
async fn a_park_never_passes_a_signal_that_commits_between_its_two_statements(db: Db) {
    let rounds = suite::size(200);
    for round in 0..rounds {
        let ids = begin(&db, &vec![start(); 400]).await;
        let claims = claim(&db, 400, &format!("w#{round}")).await;
        let mut open: Vec<Transition> = claims.iter().map(|c| goto(c, waiting(&["go"], None))).collect();
        let signals = ids.chunks(100).enumerate().map(|(n, ids)| {
            let (store, signals) = (db.store.clone(), ids.iter().map(|id| signal(*id, "go")).collect::<Vec<_>>());
            let after = Duration::from_micros((round * 397 % 8_000 + n * 300) as u64);
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                store.signal(&signals).await.expect("delivers")
            })
        });
        let signals: Vec<_> = signals.collect();
        while !open.is_empty() {
            let answers = db.store.commit(&open).await.expect("commits");
            let mut answers = answers.iter();
            open.retain(|_| answers.next() == Some(&Committed::Busy));
        }
        for delivered in signals {
            assert!(delivered.await.expect("no panic").iter().all(|d| matches!(d.delivered, Delivered::New(_))));
        }
        assert_eq!(db.count(STUCK).await, 0, "round {round}");
        db.run("DELETE FROM gen_durable").await;
    }
}

/// A park relies on a new snapshot for each statement, and a commit on the disk: whatever the role defaults to.
#[cfg(feature = "postgres")]
async fn the_engines_sessions_are_read_committed_and_durable_whatever_the_role_defaults_to(db: Db) {
    let name = db.text("SELECT quote_ident(current_database())").await;
    let weak = [
        ("default_transaction_isolation", "repeatable read"),
        ("synchronous_commit", "off"),
        // Last: the database then refuses changes of ours too.
        ("default_transaction_read_only", "on"),
    ];
    for (setting, value) in weak {
        let alter = format!("ALTER DATABASE {name} SET {setting} = '{value}'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(alter)).execute(db.pool()).await.expect("alters");
    }
    let store = suite::store_options(&db.url).open().expect("a store");
    let postgres =
        store.as_any().downcast_ref::<gen_durable_runtime::store::postgres::Postgres>().expect("the Postgres store");
    let sql = "SELECT concat_ws(', ', current_setting('default_transaction_isolation'),
        current_setting('default_transaction_read_only'), current_setting('synchronous_commit'))";
    let settings: String = sqlx::query_scalar(sql).fetch_one(postgres.pool()).await.expect("settings");
    assert_eq!(settings, "read committed, off, on");
    // And it works: a commit that parks over a signal that is there.
    let id = store.start(&[start()]).await.expect("starts")[0].id();
    let known = known();
    let claims = store.claim(&order(&known, 1, "w#1")).await.expect("claims").claims;
    store.signal(&[signal(id, "go")]).await.expect("delivers");
    let park = goto(&claims[0], waiting(&["go"], None));
    assert_eq!(store.commit(&[park]).await.expect("commits"), [Committed::Done]);
    assert_eq!(db.count(STUCK).await, 0);
}

/// Notes how each transaction that writes will be committed.
#[cfg(feature = "postgres")]
const NOTES: &str = "CREATE TABLE flushed (setting text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO flushed VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON gen_durable
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
    CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON signals
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();";

/// A claim that a crash of the server takes along is a lost lease; an outcome would be lost work.
#[cfg(feature = "postgres")]
async fn all_but_claims_and_leases_is_flushed_before_it_is_answered(db: Db) {
    sqlx::raw_sql(NOTES).execute(db.pool()).await.expect("notes");
    let noted = async |what: &str| {
        let noted = db.text("SELECT coalesce(string_agg(DISTINCT setting, ','), 'nothing') FROM flushed").await;
        db.run("DELETE FROM flushed").await;
        format!("{what}: {noted}")
    };
    let mut seen = Vec::new();
    for limits in [false, true] {
        let known = known();
        let claims = async |token: &str| {
            let order = gen_durable_runtime::store::ClaimOrder { limits, ..order(&known, 10, token) };
            db.store.claim(&order).await.expect("claims").claims
        };
        let ids = begin(&db, &[start(), start()]).await;
        seen.push(noted("start").await);
        let both = claims("w#1").await;
        seen.push(noted("claim").await);
        let leases: Vec<_> = both.iter().map(|c| (c.id, c.token.clone())).collect();
        db.store.renew(&leases, Duration::from_secs(60)).await.expect("renews");
        seen.push(noted("renewal").await);
        let parks: Vec<_> = both.iter().map(|c| goto(c, waiting(&["go"], None))).collect();
        db.store.commit(&parks).await.expect("commits");
        seen.push(noted("park").await);
        db.store.signal(&ids.iter().map(|id| signal(*id, "go")).collect::<Vec<_>>()).await.expect("delivers");
        seen.push(noted("signal").await);
        let both = claims("w#2").await;
        let ends: Vec<_> = both.iter().map(|c| goto(c, suite::entry("b"))).collect();
        noted("claim").await;
        db.store.commit(&ends[..1]).await.expect("commits");
        seen.push(noted("commit").await);
        db.store.commit(&ends[1..]).await.expect("commits");
        db.run("DELETE FROM gen_durable").await;
        noted("the rest").await;
    }
    let expected = ["start: on", "claim: off", "renewal: off", "park: on", "signal: on", "commit: on"];
    assert_eq!(seen, [expected, expected].concat());
}

/// An instance that was reaped and claimed again by the same process may stand twice in one batch.
async fn of_two_claims_of_one_instance_in_a_batch_only_the_one_that_stands_counts(db: Db) {
    let waits = StartSpec { entry: waiting(&["go"], None), ..start() };
    let id = begin(&db, &[waits]).await[0];
    db.store.signal(&[signal(id, "go")]).await.expect("delivers");
    let lost = claim(&db, 1, "w#1").await.remove(0);
    db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s'").await;
    db.store.reap(10).await.expect("reaps");
    let stands = claim(&db, 1, "w#2").await.remove(0);
    let retry = plan::outcome(&stands, Verdict::RetryIn(Duration::ZERO), RULES).expect("a plan");
    let answers = db.store.commit(&[goto(&lost, entry("b")), retry]).await.expect("commits");
    assert_eq!(answers, [Committed::ClaimLost, Committed::Done]);
    let again = claim(&db, 1, "w#3").await.remove(0);
    assert!(matches!(&again.wake, Wake::Signals(s) if s.len() == 1), "its signal is still there: {:?}", again.wake);
}

fn keyed(key: usize) -> Entry {
    Entry { concurrency: Some(ConcurrencySlot { key: format!("k:{key}"), limit: None }), ..entry("a") }
}

/// Both claims insert into one unique index, in the order of their rows: without a try-lock first they would wait for
/// each other.
async fn claims_of_the_same_keys_in_opposite_orders_never_deadlock(db: Db) {
    let known = known();
    for _ in 0..suite::size(60) {
        let of = |queue: &str, keys: &mut dyn Iterator<Item = usize>| -> Vec<StartSpec> {
            keys.map(|n| StartSpec { queue: Some(queue.into()), entry: keyed(n), ..start() }).collect()
        };
        begin(&db, &of("q1", &mut (0..90))).await;
        begin(&db, &of("q2", &mut (0..90).rev())).await;
        let (mut a, mut b) = (order(&known, 1_000, "a#1"), order(&known, 1_000, "b#1"));
        (a.queue, b.queue) = ("q1", "q2");
        let (a, b) = tokio::join!(db.store.claim(&a), db.store.claim(&b));
        for claimed in [a, b] {
            // Taken again; a deadlock would be neither.
            assert!(claimed.is_ok() || claimed.is_err_and(|e| e.is_conflict()));
        }
        assert_eq!(
            db.count("SELECT count(*) - count(DISTINCT concurrency_key) FROM gen_durable WHERE status = 'executing'")
                .await,
            0
        );
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn a_claim_that_met_only_rows_of_one_key_says_that_there_is_more(db: Db) {
    begin(&db, &vec![StartSpec { entry: keyed(1), ..start() }; 20]).await;
    begin(&db, &vec![start(); 20]).await;
    let known = known();
    let first = db.store.claim(&order(&known, 10, "w#1")).await.expect("claims");
    assert_eq!((first.claims.len(), first.looked), (1, 10));
    let second = db.store.claim(&order(&known, 10, "w#2")).await.expect("claims");
    assert_eq!(second.claims.len(), 10, "behind them");
}

async fn a_row_that_a_person_put_aside_for_ever_stops_nobody(db: Db) {
    begin(&db, &vec![start(); 2]).await;
    db.run("UPDATE gen_durable SET eligible_at = 'infinity' WHERE id = 1").await;
    let known = known();
    let claimed = db.store.claim(&order(&known, 10, "w#1")).await.expect("claims");
    assert_eq!((claimed.claims.len(), claimed.next_due), (1, None));
    assert_eq!(db.store.list(&Default::default()).await.expect("lists").len(), 2);
}

#[cfg(feature = "postgres")]
async fn a_renewal_waits_in_line_for_a_row_that_a_caller_holds_and_beats_the_reaper(db: Db) {
    begin(&db, &[start()]).await;
    let c = claim(&db, 1, "w#1").await.remove(0);
    let mut other = db.pool().begin().await.expect("a transaction");
    sqlx::query("SELECT 1 FROM gen_durable FOR NO KEY UPDATE").execute(&mut *other).await.expect("holds");
    db.store.renew(&[(c.id, c.token.clone())], Duration::from_secs(60)).await.expect("answers at once");
    let waiting = tokio::spawn({
        let (store, c) = (db.store.clone(), c.clone());
        async move { store.renew_one(c.id, &c.token, Duration::from_secs(60)).await }
    });
    suite::eventually("the renewal waits", Duration::from_secs(10), async || {
        db.count(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .await
            == 1
    })
    .await;
    sqlx::query("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s'")
        .execute(&mut *other)
        .await
        .expect("expires");
    other.commit().await.expect("commits");
    assert!(waiting.await.expect("no panic").expect("renews"));
    assert_eq!(db.store.reap(10).await.expect("reaps").rows, 0);
    let lost = db.store.renew_one(c.id, &suite::token("other#1"), Duration::from_secs(60)).await.expect("answers");
    assert!(!lost);
}

async fn a_signal_to_an_instance_that_is_due_wakes_its_queue_again(db: Db) {
    let id: InstanceId = begin(&db, &[start()]).await[0];
    // A claim that came while the signal held the row's lock has skipped it.
    let delivered = db.store.signal(&[SignalSpec { ..signal(id, "go") }]).await.expect("delivers");
    assert_eq!(delivered[0].wake.as_deref(), Some("default"));
}
