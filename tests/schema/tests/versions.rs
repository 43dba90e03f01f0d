//! What each version leaves behind.

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::Plan;
use schema_tests::*;

#[tokio::test]
async fn each_version_leaves_exactly_its_facts() -> Outcome {
    let mut db = Db::new().await?;
    for schema in [SchemaName::default(), odd(), name("wf")] {
        for place in 1..FACTS.len() {
            db.migrate(&schema, &plan(place)).await?;
            assert_facts(&db.facts(&schema).await?, place);
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_version_is_reached_from_every_version() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    for from in 0..FACTS.len() {
        for to in 0..FACTS.len() {
            db.migrate(&schema, &plan(from)).await?;
            let report = db.migrate(&schema, &plan(to)).await?;
            assert_facts(&db.facts(&schema).await?, to);
            assert!(db.migrate(&schema, &plan(to)).await?.steps.is_empty(), "{from} to {to}: {report}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn down_removes_the_schema_only_if_a_migrator_made_it() -> Outcome {
    let mut db = Db::new().await?;
    let made = name("made by us");
    db.migrate(&made, &Plan::latest()).await?;
    let report = db.migrate(&made, &Plan::to_seed(0)).await?;
    assert!(!db.schema_exists(&made).await?);
    assert!(report.to_string().ends_with("dropped the schema made by us\n"), "{report}");

    let given = name("given");
    db.run(&given, "CREATE SCHEMA {schema}").await?;
    db.migrate(&given, &Plan::latest()).await?;
    db.migrate(&given, &Plan::to_seed(0)).await?;
    assert!(db.schema_exists(&given).await?);
    assert_eq!(db.remains(&given).await?, "");
    Ok(())
}

#[tokio::test]
async fn down_leaves_the_hosts_tables_alone() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("shared");
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, "CREATE TABLE {schema}.orders (id int); INSERT INTO {schema}.orders VALUES (7)").await?;
    db.migrate(&schema, &Plan::to_seed(0)).await?;
    assert_eq!(db.remains(&schema).await?, "r orders\ntype _orders\ntype orders\n");
    assert_eq!(db.number("SELECT id::int8 FROM shared.orders").await?, 7);
    Ok(())
}

#[tokio::test]
async fn down_does_not_take_what_the_host_built_on_top() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, "CREATE VIEW {schema}.mine AS SELECT id FROM {schema}.gen_durable").await?;
    let error = db.migrate(&schema, &Plan::to_seed(0)).await.unwrap_err().to_string();
    assert!(error.contains("something of the host stands on the tables"), "{error}");
    assert_facts(&db.facts(&schema).await?, 4);
    Ok(())
}

#[tokio::test]
async fn storage_parameters_come_and_go_with_our_part() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &Plan::latest()).await?;
    let storage = db.storage(&schema).await?;
    assert!(storage.contains("gen_durable fillfactor=70\n"), "{storage}");
    assert!(storage.contains("signals autovacuum_vacuum_scale_factor=0.01\n"), "{storage}");
    db.migrate(&schema, &Plan::to_seed(3)).await?;
    assert_eq!(db.storage(&schema).await?, "");
    Ok(())
}

#[tokio::test]
async fn a_version_nobody_knows_is_refused() -> Outcome {
    let db = Db::new().await?;
    let error = db.migrate(&name("wf"), &Plan::to_seed(4)).await.unwrap_err();
    assert_eq!(error.to_string(), "to is 4: this program knows the versions 0 to 3");
    Ok(())
}

#[tokio::test]
async fn the_report_says_each_step_in_a_line() -> Outcome {
    let db = Db::new().await?;
    let start = std::time::Instant::now();
    let report = db.migrate(&name("wf"), &Plan::latest()).await?;
    println!("from nothing to the latest version in {:?}", start.elapsed());
    let lines = "created the schema wf\nup to version 1\nup to version 2\nup to version 3\nup to version 3+1\nup to version 3+2\nup to version 3+3\n";
    assert_eq!(report.to_string(), lines);
    let start = std::time::Instant::now();
    let report = db.migrate(&name("wf"), &Plan::latest()).await?;
    println!("nothing to do in {:?}", start.elapsed());
    assert_eq!(report.to_string(), "nothing to do: the schema is at version 3+3\n");
    Ok(())
}
