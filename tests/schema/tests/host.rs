//! Beside the host's own migrator, in the same database and schema.

use gen_durable_runtime::store::postgres::migrate::{Plan, check};
use schema_tests::*;
use sqlx::SqlSafeStr;
use sqlx::postgres::PgPoolOptions;
use sqlx_core::migrate::{Migration, MigrationType, Migrator};

const ORDERS: &str = include_str!("../host/1_orders.sql");
const PAID: &str = include_str!("../host/2_paid.sql");

fn host(scripts: &[&'static str]) -> Migrator {
    let migration = |(version, sql): (i64, &&'static str)| {
        Migration::new(version, "host".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations((1..).zip(scripts).map(migration).collect())
}

#[tokio::test]
async fn the_hosts_migrator_and_ours_do_not_see_each_other() -> Outcome {
    let mut db = Db::new().await?;
    let schema = name("app");
    db.run(&schema, "CREATE SCHEMA {schema}").await?;
    let options = db.options.clone().options([("search_path", "app")]);
    let pool = PgPoolOptions::new().connect_with(options).await?;

    host(&[ORDERS]).run(&pool).await?;
    db.migrate(&schema, &plan(3)).await?;
    host(&[ORDERS]).run(&pool).await?;
    db.migrate(&schema, &Plan::latest()).await?;
    host(&[ORDERS, PAID]).run(&pool).await?;
    assert_eq!(db.number("SELECT count(*) FROM app._sqlx_migrations WHERE success").await?, 2);
    check(&mut db.conn, &schema).await?;

    db.migrate(&schema, &Plan::to_seed(0)).await?;
    host(&[ORDERS, PAID]).run(&pool).await?;
    let remains = db.remains(&schema).await?;
    assert!(remains.contains("r orders\n") && !remains.contains("signals"), "{remains}");
    pool.close().await;
    Ok(())
}
