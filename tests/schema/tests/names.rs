//! Schema names as an attack: each is refused by the rule of `SchemaName`, or works exactly as named.

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, check};
use schema_tests::*;

fn odd_names() -> Vec<String> {
    let longest = "x".repeat(63);
    let names = [
        "public; drop table victim; --",
        "a\"b",
        "o'brien",
        "a$$b",
        "$1",
        "x.y",
        "My-Schema",
        "select",
        "1abc",
        "schéma",
        "{schema}",
        "a\\b",
        "%s",
        " ",
        &longest,
    ];
    names.map(str::to_owned).to_vec()
}

#[tokio::test]
async fn an_odd_schema_name_works_exactly_as_named_and_harms_nothing() -> Outcome {
    let mut db = Db::new().await?;
    db.run(&SchemaName::default(), "CREATE TABLE {schema}.victim (id int)").await?;
    for text in odd_names() {
        let schema = name(&text);
        db.migrate(&schema, &Plan::latest()).await.map_err(|e| format!("{text}: {e}"))?;
        assert!(db.schema_exists(&schema).await?, "{text}");
        assert_facts(&db.facts(&schema).await?, 4);
        db.run(&schema, ROWS).await?;
        assert_eq!(db.digest(&schema).await?.len(), 4);
        assert_eq!(check(&mut db.conn, &schema).await?.to_string(), "3+3");
        for place in [2, 4, 0] {
            db.migrate(&schema, &plan(place)).await.map_err(|e| format!("{text}: {e}"))?;
        }
        assert!(!db.schema_exists(&schema).await?, "{text}");
        assert_eq!(db.remains(&SchemaName::default()).await?, "r victim\ntype _victim\ntype victim\n", "{text}");
    }
    Ok(())
}

#[test]
fn names_that_the_server_would_cut_or_cannot_hold_are_refused() {
    for text in ["", "a\nb", "a\0b", &"x".repeat(64), &"é".repeat(32), "pg_temp", "information_schema"] {
        assert!(SchemaName::new(text).is_err(), "{text:?}");
    }
}
