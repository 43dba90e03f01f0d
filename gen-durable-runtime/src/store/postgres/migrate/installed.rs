use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, query_as};

use super::version::{OWN_LATEST, SEED_LATEST, SchemaVersion};
use crate::error::Error;
use crate::store::SchemaName;

const INSTALLED: &str = include_str!("sql/installed.sql");
const META: &str = include_str!("sql/meta.sql");

/// What the catalog tells without any rights.
pub(super) struct Installed {
    pub(super) schema_exists: bool,
    /// 0: no tables.
    pub(super) seed: u32,
    pub(super) has_meta: bool,
}

/// The row of `gen_durable_meta`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meta {
    pub(super) version: u32,
    /// The oldest program that can work on it.
    pub(super) oldest_code: u32,
}

impl Installed {
    pub(super) async fn read(conn: &mut PgConnection, schema: &SchemaName) -> Result<Self, Failed> {
        let (schema_exists, has_table, comment, has_meta): (bool, bool, Option<String>, bool) =
            query_as(INSTALLED).persistent(false).bind(schema.as_str()).fetch_one(conn).await?;
        let seed = if has_table { seed_version(schema, comment.as_deref())? } else { 0 };
        Ok(Self { schema_exists, seed, has_meta })
    }

    /// Our version; all zeros where there is nothing of ours.
    pub(super) async fn meta(&self, conn: &mut PgConnection, schema: &SchemaName) -> Result<Meta, Failed> {
        if !self.has_meta {
            return Ok(Meta { version: 0, oldest_code: 0 });
        }
        let sql = AssertSqlSafe(schema.fill(META));
        let row: Option<(i32, i32)> = query_as(sql).persistent(false).fetch_optional(conn).await?;
        let unreadable = || Error::schema(format!("the table gen_durable_meta of the schema {schema} has no version"));
        let (version, oldest_code) = row.ok_or_else(unreadable)?;
        let number = |n: i32| u32::try_from(n).map_err(|_| unreadable());
        Ok(Meta { version: number(version)?, oldest_code: number(oldest_code)? })
    }
}

/// A failure to read: the caller decides how a driver error is told.
pub(super) enum Failed {
    Driver(sqlx::Error),
    Told(Error),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

fn seed_version(schema: &SchemaName, comment: Option<&str>) -> Result<u32, Error> {
    comment.and_then(|text| text.trim().parse().ok()).filter(|version| *version > 0).ok_or_else(|| {
        Error::schema(format!(
            "the schema {schema} has a table gen_durable without a version in its comment: if it is not \
             gen-durable's choose another schema, else restore the comment (1, 2 or 3)"
        ))
    })
}

/// Refuses what a newer program made and this one cannot work on.
pub(super) fn refuse_newer(schema: &SchemaName, seed: u32, meta: Meta) -> Result<(), Error> {
    let found = SchemaVersion { seed, own: meta.version };
    if seed > SEED_LATEST {
        return Err(Error::schema(format!(
            "the schema {schema} is newer than this program: found version {found}, known up to {}; deploy a newer program",
            SchemaVersion::LATEST
        )));
    }
    if meta.oldest_code > OWN_LATEST {
        return Err(Error::schema(format!(
            "the schema {schema} is newer than this program: found version {found}, which needs a program of version \
             {SEED_LATEST}+{} or later, this one is {}; deploy a newer program",
            meta.oldest_code,
            SchemaVersion::LATEST
        )));
    }
    Ok(())
}
