//! Large tables: a rewrite is asked for, an index is built while others write.

use std::time::{Duration, Instant};

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, check, migrate};
use schema_tests::*;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

/// No table is small: every index is built concurrently.
fn all_large() -> Plan {
    Plan::latest().large_from(1_000_000, -1)
}

#[tokio::test]
async fn above_a_million_rows_a_rewrite_has_to_be_asked_for() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &plan(2)).await?;
    db.fill(&schema, 1_000_001).await?;
    let start = Instant::now();
    let error = db.migrate(&schema, &Plan::latest()).await.unwrap_err().to_string();
    println!("refused after {:?}: {error}", start.elapsed());
    assert!(error.contains("about 1000001 rows") && error.contains(" MB with its indexes"), "{error}");
    assert!(error.contains("`migrate --allow-rewrite`"), "{error}");
    assert_facts(&db.facts(&schema).await?, 2);

    let start = Instant::now();
    let report = db.migrate(&schema, &Plan::latest().allow_rewrite(true)).await?;
    println!("rewritten in {:?}", start.elapsed());
    assert!(report.to_string().contains("up to version 3, rewriting 1000001 instances ("), "{report}");
    assert_facts(&db.facts(&schema).await?, 4);
    Ok(())
}

#[tokio::test]
async fn up_to_the_limit_a_table_is_rewritten_unasked() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &plan(2)).await?;
    db.fill(&schema, 100).await?;
    let error = db.migrate(&schema, &Plan::latest().large_from(99, 0)).await.unwrap_err();
    assert!(error.to_string().contains("about 100 rows"), "{error}");
    // A stale estimate does not decide.
    db.run(&schema, "ANALYZE {schema}.gen_durable; DELETE FROM {schema}.gen_durable WHERE id > 60").await?;
    db.migrate(&schema, &Plan::latest().large_from(60, 0)).await?;
    assert_facts(&db.facts(&schema).await?, 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_migrators_build_one_concurrent_index() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    for _ in 0..3 {
        let run = |_| {
            let (options, of) = (db.options.clone(), schema.clone());
            tokio::spawn(async move { migrate(&options, &of, &all_large()).await })
        };
        let mut built = 0;
        for task in (0..10).map(run).collect::<Vec<_>>() {
            built += task.await??.to_string().matches("built the index signals_inbox concurrently").count();
        }
        assert_eq!(built, 1);
        assert_facts(&db.facts(&schema).await?, 4);
        db.migrate(&schema, &Plan::to_seed(0)).await?;
    }
    db.alone().await?;
    assert_eq!(db.advisory_locks().await?, 0);
    Ok(())
}

/// Waits until the index shows, as INVALID.
async fn build_under_way(db: &mut Db) -> Outcome {
    const INVALID: &str = "SELECT count(*) FROM pg_index WHERE NOT indisvalid";
    for _ in 0..500 {
        if db.number(INVALID).await? == 1 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err("no build in 5 s".into())
}

/// What a worker has open: it holds a lock that a concurrent build waits for.
fn write(schema: &SchemaName) -> AssertSqlSafe<String> {
    AssertSqlSafe(schema.fill("UPDATE {schema}.signals SET payload = '{}' WHERE dedup_key = 'k1'"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_build_waits_for_an_old_transaction_and_holds_nobody_up() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &plan(3)).await?;
    db.run(&schema, ROWS).await?;
    // Our part is there, the index is not: as after a migrator that died between both.
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, "DROP INDEX {schema}.signals_inbox").await?;
    let text = check(&mut db.conn, &schema).await.unwrap_err().to_string();
    assert!(text.contains("lacks the index signals_inbox"), "{text}");

    let mut holder = db.options.connect().await?;
    let mut long = holder.begin().await?;
    long.execute(write(&schema)).await?;
    let impatient = all_large().patience(Duration::from_secs(1));
    let error = migrate(&db.options, &schema, &impatient).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("signals_inbox waits for transactions"), "{error}");

    // The server goes on with it; the next migrator waits for that build instead of starting another.
    build_under_way(&mut db).await?;
    let (options, of) = (db.options.clone(), schema.clone());
    let next = tokio::spawn(async move { migrate(&options, &of, &all_large()).await });
    let start = Instant::now();
    db.run(&schema, "UPDATE {schema}.signals SET name = 'paid'  WHERE dedup_key IS NULL").await?;
    assert!(start.elapsed() < Duration::from_secs(1));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!next.is_finished());
    long.commit().await?;
    assert!(next.await??.steps.is_empty());
    assert_facts(&db.facts(&schema).await?, 4);
    check(&mut db.conn, &schema).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_index_is_dropped_and_built_again() -> Outcome {
    const TERMINATE: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_progress_create_index
        WHERE datname = current_database()";
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &plan(3)).await?;
    db.run(&schema, ROWS).await?;
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, "DROP INDEX {schema}.signals_inbox").await?;

    let mut holder = db.options.connect().await?;
    let mut long = holder.begin().await?;
    long.execute(write(&schema)).await?;
    let (options, of) = (db.options.clone(), schema.clone());
    let killed = tokio::spawn(async move { migrate(&options, &of, &all_large()).await });
    build_under_way(&mut db).await?;
    db.number(TERMINATE).await?;
    assert!(killed.await?.unwrap_err().is_transient());
    long.rollback().await?;
    assert!(
        db.facts(&schema)
            .await?
            .contains("signals_inbox ON signals USING btree (target_id, id) WHERE (consumed_at IS NULL) INVALID")
    );

    let report = db.migrate(&schema, &all_large()).await?.to_string();
    assert_eq!(report, "dropped the invalid index signals_inbox\nbuilt the index signals_inbox concurrently\n");
    assert_facts(&db.facts(&schema).await?, 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migrator_cancelled_around_a_concurrent_build_is_finished_by_the_next() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    for round in 0..20 {
        let (options, of) = (db.options.clone(), schema.clone());
        let task = tokio::spawn(async move { migrate(&options, &of, &all_large()).await });
        tokio::time::sleep(Duration::from_millis(4) * round).await;
        task.abort();
        db.migrate(&schema, &all_large()).await?;
        assert_facts(&db.facts(&schema).await?, 4);
        db.alone().await?;
        assert_eq!(db.advisory_locks().await?, 0);
        db.migrate(&schema, &Plan::to_seed(0)).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_migrator_cancelled_in_a_rewrite_the_next_waits_for_the_server_and_does_it_again() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &plan(2)).await?;
    db.fill(&schema, 200_000).await?;
    for wait in [150, 300, 450] {
        let (options, of) = (db.options.clone(), schema.clone());
        let task = tokio::spawn(async move { migrate(&options, &of, &Plan::latest()).await });
        tokio::time::sleep(Duration::from_millis(wait)).await;
        task.abort();
        db.migrate(&schema, &Plan::latest()).await?;
        assert_facts(&db.facts(&schema).await?, 4);
        db.migrate(&schema, &plan(2)).await?;
        assert_facts(&db.facts(&schema).await?, 2);
    }
    db.alone().await?;
    assert_eq!(db.advisory_locks().await?, 0);
    Ok(())
}
