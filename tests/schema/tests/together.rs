//! Many migrators at once.

use std::process::{Command, Stdio};

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, migrate};
use schema_tests::*;

/// All end well, and one of them did each step.
async fn ten_tasks(db: &Db, schema: &SchemaName) -> Result<usize, Fault> {
    let run = |_| {
        let (options, schema) = (db.options.clone(), schema.clone());
        tokio::spawn(async move { migrate(&options, &schema, &Plan::latest()).await })
    };
    let mut steps = 0;
    for task in (0..10).map(run).collect::<Vec<_>>() {
        steps += task.await??.steps.len();
    }
    Ok(steps)
}

async fn assert_one_schema(db: &mut Db, schema: &SchemaName) -> Outcome {
    assert_facts(&db.facts(schema).await?, 4);
    assert_eq!(db.number(&schema.fill("SELECT count(*) FROM {schema}.gen_durable_meta")).await?, 1);
    db.alone().await?;
    assert_eq!(db.advisory_locks().await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_migrators_on_an_empty_database_all_end_well() -> Outcome {
    let mut db = Db::new().await?;
    for schema in [name("wf"), odd(), SchemaName::default()] {
        let created = usize::from(!db.schema_exists(&schema).await?);
        assert_eq!(ten_tasks(&db, &schema).await?, 6 + created);
        assert_one_schema(&mut db, &schema).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_migrators_on_an_older_version_all_end_well() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    for place in 0..4 {
        db.migrate(&schema, &plan(place)).await?;
        db.run(&schema, if place == 1 { ROWS } else { "SELECT 1" }).await?;
        ten_tasks(&db, &schema).await?;
        assert_one_schema(&mut db, &schema).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_processes_on_an_empty_database_all_end_well() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    let start = |_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schema-tests"));
        command
            .args([db.database.url().as_str(), schema.as_str()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    };
    for process in (0..10).map(start).collect::<Result<Vec<_>, _>>()? {
        let output = process.wait_with_output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_one_schema(&mut db, &schema).await
}

#[tokio::test(flavor = "multi_thread")]
async fn migrators_of_two_schemas_do_not_wait_for_each_other() -> Outcome {
    let mut db = Db::new().await?;
    let (one, two) = (name("wf"), name("wf2"));
    let plan = Plan::latest();
    let both = tokio::join!(migrate(&db.options, &one, &plan), migrate(&db.options, &two, &plan));
    both.0?;
    both.1?;
    db.run(&one, ROWS).await?;
    assert!(db.digest(&two).await?.is_empty());
    db.migrate(&one, &Plan::to_seed(0)).await?;
    assert_facts(&db.facts(&two).await?, 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn up_and_down_at_once_end_at_one_of_both() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    for _ in 0..10 {
        let (up, down) = (Plan::latest(), Plan::to_seed(0));
        let both = tokio::join!(migrate(&db.options, &schema, &up), migrate(&db.options, &schema, &down));
        both.0?;
        both.1?;
        let facts = db.facts(&schema).await?;
        assert_facts(&facts, if facts.is_empty() { 0 } else { 4 });
    }
    Ok(())
}

#[tokio::test]
async fn a_role_whose_transactions_are_serializable_migrates_too() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    let options = [("default_transaction_isolation", "serializable"), ("default_transaction_read_only", "on")];
    let options = db.options.clone().options(options);
    let plans = (Plan::latest(), Plan::latest());
    let both = tokio::join!(migrate(&options, &schema, &plans.0), migrate(&options, &schema, &plans.1));
    both.0?;
    both.1?;
    assert_one_schema(&mut db, &schema).await
}
