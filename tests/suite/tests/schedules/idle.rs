//! What schedules cost where there are none.

#[cfg(feature = "postgres")]
use std::time::Duration;

#[cfg(feature = "postgres")]
use suite::Db;

#[cfg(feature = "postgres")]
use super::{client, tocks};

suite::stores! {
    postgres {
        without_a_schedule_nobody_looks_for_one => "statements are counted by a server",
    }
}

/// One look when the worker starts and one when it hears; two more floors pass.
#[cfg(feature = "postgres")]
async fn without_a_schedule_nobody_looks_for_one(db: Db) {
    db.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await;
    let client = client(&db);
    let worker = tocks(&client).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let looks = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database() AND s.query LIKE '%gen_durable_schedules%' AND s.query NOT LIKE '%pg_stat_statements%'
          AND s.query NOT LIKE '%await_deadline%'";
    let before = db.count(looks).await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(db.count(looks).await, before);
    worker.stop().await;
}
