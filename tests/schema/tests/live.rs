//! Migrations beside live workers.

use std::time::{Duration, Instant};

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, migrate};
use schema_tests::*;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

/// Longest one statement of a worker may be held up: one lock wait, the changes, and a slow machine.
const HELD_UP_MAX: Duration = Duration::from_secs(2);

fn touch(schema: &SchemaName) -> String {
    schema.fill("UPDATE {schema}.gen_durable SET attempt = attempt + 1 WHERE fsm = 'item'")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_transaction_delays_the_migration_and_nobody_else() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &plan(2)).await?;
    db.run(&schema, ROWS).await?;
    let mut holder = db.options.connect().await?;
    let mut long = holder.begin().await?;
    long.execute(AssertSqlSafe(schema.fill("UPDATE {schema}.gen_durable SET weight = 2 WHERE fsm = 'order'"))).await?;

    let (options, of) = (db.options.clone(), schema.clone());
    let migration = tokio::spawn(async move { migrate(&options, &of, &Plan::latest()).await });
    let end = Instant::now() + Duration::from_secs(3);
    let mut longest = Duration::ZERO;
    while Instant::now() < end {
        let start = Instant::now();
        db.run(&schema, &touch(&schema)).await?;
        longest = longest.max(start.elapsed());
    }
    assert!(longest < HELD_UP_MAX, "{longest:?}");
    assert!(!migration.is_finished());
    long.commit().await?;
    migration.await??;
    assert_facts(&db.facts(&schema).await?, 4);
    println!("a worker was held up for at most {longest:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_ends_with_the_name_of_who_is_in_the_way() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &plan(3)).await?;
    db.run(&schema, ROWS).await?;
    let mut holder = db.options.connect().await?;
    let mut long = holder.begin().await?;
    long.execute(AssertSqlSafe(touch(&schema))).await?;
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *long).await?;

    let start = Instant::now();
    let plan = Plan::latest().patience(Duration::from_millis(1500)).lock_wait(Duration::from_millis(100));
    let error = migrate(&db.options, &schema, &plan).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(error.is_transient());
    assert!(error.to_string().contains(&format!("process {pid} (idle in transaction)")), "{error}");
    long.rollback().await?;
    assert_facts(&db.facts(&schema).await?, 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_with_another_migrator_ends_too() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    let mut other = db.options.connect().await?;
    let mut held = other.begin().await?;
    let lock = "SELECT pg_advisory_xact_lock(1734700644, hashtext($1))";
    sqlx::query(lock).bind(schema.as_str()).execute(&mut *held).await?;
    let plan = Plan::latest().patience(Duration::from_millis(300));
    let error = migrate(&db.options, &schema, &plan).await.unwrap_err();
    assert!(error.is_transient());
    assert!(error.to_string().contains("another migrator is at work"), "{error}");
    assert!(error.to_string().contains("(idle in transaction)"), "{error}");
    held.rollback().await?;
    db.migrate(&schema, &Plan::latest()).await?;
    assert_facts(&db.facts(&schema).await?, 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_limits_of_the_role_do_not_bound_a_migration() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &plan(2)).await?;
    db.fill(&schema, 100_000).await?;
    let limits = [("statement_timeout", "100"), ("idle_in_transaction_session_timeout", "1000")];
    let plan = Plan::latest().large_from(1_000_000, -1);
    migrate(&db.options.clone().options(limits), &schema, &plan).await?;
    assert_facts(&db.facts(&schema).await?, 4);
    Ok(())
}
