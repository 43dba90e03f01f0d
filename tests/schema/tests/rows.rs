//! What was there stays: rows, and a database that the Elixir migrator made.

use gen_durable_runtime::store::postgres::migrate::{Plan, check};
use schema_tests::*;

#[tokio::test]
async fn on_the_way_up_and_down_instances_and_signals_stay() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &plan(1)).await?;
    db.run(&schema, ROWS).await?;
    let before = db.digest(&schema).await?;
    for place in [2, 3, 4, 3, 2, 1, 4] {
        db.migrate(&schema, &plan(place)).await?;
        assert_eq!(db.digest(&schema).await?, before, "at {place}");
    }
    Ok(())
}

#[tokio::test]
async fn a_database_made_by_the_elixir_migrator_is_taken_over_with_its_rows() -> Outcome {
    for version in 1..=3 {
        let mut db = Db::new().await?;
        let schema = name("elixir");
        db.run(&schema, "CREATE SCHEMA {schema}; CREATE TABLE {schema}.users (id int)").await?;
        for step in &ELIXIR[..version] {
            db.run(&schema, step).await?;
        }
        db.run(&schema, ROWS).await?;
        let before = db.digest(&schema).await?;
        db.run(&schema, "ALTER TABLE {schema}.users RENAME TO zz").await?;
        let error = check(&mut db.conn, &schema).await.unwrap_err().to_string();
        assert!(error.contains(&format!("made by an Elixir engine: found its version {version} without")), "{error}");

        db.migrate(&schema, &Plan::latest()).await?;
        assert_eq!(db.digest(&schema).await?, before);
        db.run(&schema, "DROP TABLE {schema}.zz").await?;
        assert_facts(&db.facts(&schema).await?, 4);
        assert_eq!(check(&mut db.conn, &schema).await?.to_string(), "3+3");

        db.migrate(&schema, &Plan::to_seed(0)).await?;
        assert_eq!(db.remains(&schema).await?, "");
        assert!(db.schema_exists(&schema).await?, "the host made the schema");
    }
    Ok(())
}

#[tokio::test]
async fn the_elixir_migrator_makes_the_same_facts() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("elixir");
    db.run(&schema, "CREATE SCHEMA {schema}").await?;
    for (place, step) in ELIXIR.iter().enumerate() {
        db.run(&schema, step).await?;
        assert_facts(&db.facts(&schema).await?, place + 1);
    }
    Ok(())
}

#[tokio::test]
async fn after_the_elixir_migrator_went_down_under_us_we_come_up_again() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, ELIXIR_DOWN).await?;
    let error = check(&mut db.conn, &schema).await.unwrap_err().to_string();
    assert!(error.contains("has no gen-durable tables"), "{error}");
    db.migrate(&schema, &Plan::latest()).await?;
    assert_facts(&db.facts(&schema).await?, 4);

    db.run(&schema, ELIXIR_DOWN).await?;
    db.migrate(&schema, &Plan::to_seed(0)).await?;
    assert!(!db.schema_exists(&schema).await?);
    Ok(())
}
