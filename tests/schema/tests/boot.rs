//! What a worker is told at boot about a schema it cannot work on, and what it may do with few rights.

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, check, migrate};
use schema_tests::*;
use sqlx::ConnectOptions;

async fn told(db: &mut Db, schema: &SchemaName) -> String {
    let error = check(&mut db.conn, schema).await.unwrap_err();
    assert!(error.is_schema() && !error.is_transient());
    error.to_string()
}

#[tokio::test]
async fn absent_tables_are_told() -> Outcome {
    let mut db = Db::new().await?;
    let text = "the schema wf has no gen-durable tables: found version 0, need 3+3; run `migrate`";
    assert_eq!(told(&mut db, &name("wf")).await, text);
    db.run(&name("wf"), "CREATE SCHEMA {schema}").await?;
    assert_eq!(told(&mut db, &name("wf")).await, text);
    Ok(())
}

#[tokio::test]
async fn an_older_schema_is_told() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &plan(2)).await?;
    let text = told(&mut db, &schema).await;
    assert!(text.contains("found its version 2 without what this engine adds, need 3+3; run `migrate`"), "{text}");
    db.migrate(&schema, &plan(4)).await?;
    db.run(&schema, "UPDATE {schema}.gen_durable_meta SET version = 0, oldest_code = 0").await?;
    let text = "the schema wf is older than this program: found version 3, need 3+3; run `migrate`";
    assert_eq!(told(&mut db, &schema).await, text);
    Ok(())
}

#[tokio::test]
async fn a_newer_schema_serves_as_long_as_it_says_so() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, "UPDATE {schema}.gen_durable_meta SET version = 9").await?;
    assert_eq!(check(&mut db.conn, &schema).await?.to_string(), "3+9");
    assert!(db.migrate(&schema, &Plan::latest()).await?.steps.is_empty());
    let error = db.migrate(&schema, &plan(0)).await.unwrap_err().to_string();
    assert!(error.contains("take it down with the program that made it"), "{error}");

    db.run(&schema, "UPDATE {schema}.gen_durable_meta SET oldest_code = 8").await?;
    let text = told(&mut db, &schema).await;
    assert!(
        text.contains("newer than this program: found version 3+9, which needs a program of version 3+8"),
        "{text}"
    );
    assert_eq!(db.migrate(&schema, &Plan::latest()).await.unwrap_err().to_string(), text);
    Ok(())
}

#[tokio::test]
async fn a_newer_seed_is_told() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.migrate(&schema, &Plan::latest()).await?;
    db.run(&schema, "COMMENT ON TABLE {schema}.gen_durable IS '4'").await?;
    let text = told(&mut db, &schema).await;
    assert!(text.contains("newer than this program: found version 4, known up to 3+3"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_missing_right_is_told_with_its_table() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    let role = format!("reader_{}", db.database.name());
    db.run(&schema, &format!("CREATE ROLE {role} LOGIN")).await?;
    db.migrate(&schema, &Plan::latest()).await?;
    let mut conn = db.as_role(&role).connect().await?;
    let grants = [
        ("USAGE", "schema \"My \"\"own\"\"\"", "GRANT USAGE ON SCHEMA {schema} TO "),
        ("SELECT", "gen_durable_meta", "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO "),
        ("INSERT", ".gen_durable (", "GRANT INSERT, UPDATE, DELETE ON {schema}.gen_durable TO "),
        ("INSERT", ".signals (", "GRANT INSERT, DELETE ON {schema}.signals TO "),
        ("UPDATE", ".signals (", "GRANT UPDATE ON {schema}.signals TO "),
        ("INSERT", "gen_durable_buckets", "GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO "),
    ];
    for (right, on, grant) in grants {
        let text = check(&mut conn, &schema).await.unwrap_err().to_string();
        assert!(text.contains(&format!("lacks {right} on the ")), "{text}");
        assert!(text.contains(on), "{on}: {text}");
        db.run(&schema, &format!("{grant}{role}")).await?;
    }
    check(&mut conn, &schema).await?;
    drop(conn);
    db.alone().await?;
    db.run(&schema, &format!("DROP OWNED BY {role}; DROP ROLE {role}")).await
}

#[tokio::test]
async fn a_role_that_may_not_migrate_is_told() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    let role = format!("guest_{}", db.database.name());
    db.run(&schema, &format!("CREATE ROLE {role} LOGIN")).await?;
    let guest = db.as_role(&role);
    let text = migrate(&guest, &schema, &Plan::latest()).await.unwrap_err().to_string();
    assert!(text.contains("this role may not migrate: permission denied for database"), "{text}");
    db.migrate(&schema, &plan(2)).await?;
    db.run(
        &schema,
        &format!("GRANT ALL ON SCHEMA {{schema}} TO {role}; GRANT ALL ON ALL TABLES IN SCHEMA {{schema}} TO {role}"),
    )
    .await?;
    let text = migrate(&guest, &schema, &Plan::latest()).await.unwrap_err().to_string();
    assert!(text.contains("must be owner of table gen_durable"), "{text}");
    db.alone().await?;
    db.run(&schema, &format!("DROP OWNED BY {role}; DROP ROLE {role}")).await
}

#[tokio::test]
async fn a_role_without_rights_on_public_and_without_a_search_path_migrates() -> Outcome {
    let mut db = Db::new().await?;
    let (schema, public) = (name("wf"), SchemaName::default());
    let role = format!("owner_{}", db.database.name());
    let grants = format!(
        "CREATE ROLE {role} LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC;
         CREATE SCHEMA {{schema}} AUTHORIZATION {role}"
    );
    db.run(&schema, &grants).await?;
    for path in ["", "public", "nowhere, pg_temp, pg_catalog"] {
        let owner = db.as_role(&role).options([("search_path", path)]);
        for place in [1, 4, 2, 3, 4] {
            migrate(&owner, &schema, &plan(place)).await?;
            assert_facts(&db.facts(&schema).await?, place);
        }
        let mut conn = owner.connect().await?;
        assert_eq!(check(&mut conn, &schema).await?.to_string(), "3+3");
        migrate(&owner, &schema, &plan(0)).await?;
        assert_eq!(db.remains(&public).await? + &db.remains(&schema).await?, "");
    }
    db.alone().await?;
    db.run(&schema, &format!("DROP OWNED BY {role}; DROP ROLE {role}")).await
}

#[tokio::test]
async fn a_table_of_the_host_with_our_name_is_told() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("wf");
    db.run(&schema, "CREATE SCHEMA {schema}; CREATE TABLE {schema}.signals (id int)").await?;
    let text = db.migrate(&schema, &Plan::latest()).await.unwrap_err().to_string();
    assert!(text.contains("a name that gen-durable needs is taken: relation \"signals\" already exists"), "{text}");
    db.run(&schema, "CREATE TABLE {schema}.gen_durable (id int)").await?;
    let text = told(&mut db, &schema).await;
    assert!(text.contains("a table gen_durable without a version in its comment"), "{text}");
    assert_eq!(db.migrate(&schema, &plan(0)).await.unwrap_err().to_string(), text);
    Ok(())
}
