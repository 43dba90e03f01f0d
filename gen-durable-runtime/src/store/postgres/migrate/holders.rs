use std::fmt::Write;

use sqlx::postgres::PgConnection;

use crate::store::SchemaName;

const HOLDERS: &str = include_str!("sql/holders.sql");

/// Who is in the way, for the end of a message; nothing when nobody is seen any more.
pub(super) async fn list(conn: &mut PgConnection, schema: &SchemaName) -> String {
    let query = sqlx::query_as(HOLDERS).persistent(false).bind(schema.as_str());
    let held: Vec<(i32, String, i64)> = query.fetch_all(conn).await.unwrap_or_default();
    held.iter().fold(String::new(), |mut text, (pid, state, seconds)| {
        let _ = write!(text, "; process {pid} ({state}) has been in a transaction for {seconds} s");
        text
    })
}
