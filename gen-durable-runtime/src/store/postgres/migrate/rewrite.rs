use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, query_as, query_scalar};

use super::plan::Plan;
use super::report::Size;
use crate::error::Error;
use crate::store::SchemaName;

const COUNT: &str = include_str!("sql/count.sql");
const SIZE: &str = include_str!("sql/size.sql");

/// How large a table is.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableSize {
    /// Estimated.
    pub(super) rows: i64,
    /// Of its rows alone.
    pub(super) heap_bytes: i64,
    /// With its indexes and what is stored apart.
    pub(super) all_bytes: i64,
}

impl TableSize {
    pub(super) async fn read(conn: &mut PgConnection, schema: &SchemaName, table: &str) -> Result<Self, sqlx::Error> {
        let query = query_as(SIZE).persistent(false).bind(schema.as_str()).bind(table);
        let (rows, heap_bytes, all_bytes) = query.fetch_one(conn).await?;
        Ok(Self { rows, heap_bytes, all_bytes })
    }
}

/// The size of the table that version 3 rewrites.
///
/// The estimate decides alone only when it is far above the limit; else rows are counted, up to one above it.
pub(super) async fn measure(
    conn: &mut PgConnection,
    schema: &SchemaName,
    plan: &Plan,
) -> Result<TableSize, sqlx::Error> {
    let mut size = TableSize::read(conn, schema, "gen_durable").await?;
    let limit = plan.rewrite_rows_max;
    if size.rows <= limit.saturating_mul(2) {
        let count = query_scalar(AssertSqlSafe(schema.fill(COUNT))).persistent(false).bind(limit.saturating_add(1));
        let counted: i64 = count.fetch_one(conn).await?;
        size.rows = if counted > limit { size.rows.max(counted) } else { counted };
    }
    Ok(size)
}

/// Refuses to rewrite a large table unasked.
pub(super) fn guard(size: TableSize, schema: &SchemaName, plan: &Plan) -> Result<(), Error> {
    if plan.allow_rewrite || size.rows <= plan.rewrite_rows_max {
        return Ok(());
    }
    Err(Error::schema(format!(
        "version 3 rewrites the table gen_durable of the schema {schema}: about {} rows, {} with its indexes, and as \
         much free disk again; no worker can work meanwhile. Above {} rows that has to be asked for: run \
         `migrate --allow-rewrite` at a quiet time",
        size.rows,
        Size(size.all_bytes),
        plan.rewrite_rows_max
    )))
}
