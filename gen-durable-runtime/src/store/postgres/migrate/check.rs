use sqlx::postgres::PgConnection;
use sqlx::query_as;

use super::index::IndexState;
use super::installed::{Failed, Installed, Meta, refuse_newer};
use super::script::INDEXES;
use super::version::{OWN_LATEST, SEED_LATEST, SchemaVersion};
use crate::error::{Error, StoreClass};
use crate::store::SchemaName;

const RIGHTS: &str = include_str!("sql/rights.sql");

/// Whether this program can work on the schema with this role; changes nothing.
///
/// A schema of a newer program is fine as long as its `oldest_code` allows this one.
///
/// # Errors
/// A schema error that says what was found, what is needed and what to run: there are no tables, the schema is
/// older (or an Elixir engine's without our part), it is newer, or the role lacks a right. A store error when the
/// question itself failed.
pub async fn check(conn: &mut PgConnection, schema: &SchemaName) -> Result<SchemaVersion, Error> {
    look(conn, schema).await.map_err(|failed| match failed {
        Failed::Told(error) => error,
        Failed::Driver(error) => unreadable(error),
    })
}

async fn look(conn: &mut PgConnection, schema: &SchemaName) -> Result<SchemaVersion, Failed> {
    let installed = Installed::read(conn, schema).await?;
    if installed.seed == 0 {
        return Err(absent(schema).into());
    }
    refuse_newer(schema, installed.seed, Meta { version: 0, oldest_code: 0 })?;
    if !installed.has_meta {
        return Err(without_ours(schema, installed.seed).into());
    }
    let missing = missing_rights(conn, schema).await?;
    if let Some(error) = lacking(&missing, reading_the_version) {
        return Err(error.into());
    }
    let meta = installed.meta(conn, schema).await?;
    refuse_newer(schema, installed.seed, meta)?;
    let found = SchemaVersion { seed: installed.seed, own: meta.version };
    if found.seed < SEED_LATEST || found.own < OWN_LATEST {
        return Err(older(schema, found).into());
    }
    if let Some(error) = lacking(&missing, |_| true) {
        return Err(error.into());
    }
    indexes_stand(conn, schema).await?;
    Ok(found)
}

async fn indexes_stand(conn: &mut PgConnection, schema: &SchemaName) -> Result<(), Failed> {
    for index in &INDEXES {
        if IndexState::read(conn, schema, index).await? != IndexState::Valid {
            let text = format!("the schema {schema} lacks the index {} or it is invalid; run `migrate`", index.name);
            return Err(Error::schema(text).into());
        }
    }
    Ok(())
}

/// A right the role lacks.
struct Missing {
    role: String,
    right: String,
    on: String,
}

async fn missing_rights(conn: &mut PgConnection, schema: &SchemaName) -> Result<Vec<Missing>, sqlx::Error> {
    let query = query_as(RIGHTS).persistent(false).bind(schema.as_str());
    let rows: Vec<(String, String, String)> = query.fetch_all(conn).await?;
    Ok(rows.into_iter().map(|(role, right, on)| Missing { role, right, on }).collect())
}

/// Without these not even the version can be read.
fn reading_the_version(missing: &Missing) -> bool {
    missing.right == "USAGE" || missing.right == "SELECT" && missing.on.ends_with(".gen_durable_meta")
}

fn lacking(missing: &[Missing], matters: fn(&Missing) -> bool) -> Option<Error> {
    let Missing { role, right, on } = missing.iter().find(|m| matters(m))?;
    let more = match missing.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more rights are missing)"),
    };
    let text =
        format!("the role {role} lacks {right} on the {on}{more}; run as its owner: GRANT {right} ON {on} TO {role}");
    Some(Error::schema(text))
}

fn absent(schema: &SchemaName) -> Error {
    Error::schema(format!(
        "the schema {schema} has no gen-durable tables: found version 0, need {}; run `migrate`",
        SchemaVersion::LATEST
    ))
}

fn without_ours(schema: &SchemaName, seed: u32) -> Error {
    Error::schema(format!(
        "the schema {schema} was made by an Elixir engine: found its version {seed} without what this engine adds, \
         need {}; run `migrate`, which keeps all rows and lets an Elixir engine of version {SEED_LATEST} go on",
        SchemaVersion::LATEST
    ))
}

fn older(schema: &SchemaName, found: SchemaVersion) -> Error {
    let need = SchemaVersion::LATEST;
    Error::schema(format!(
        "the schema {schema} is older than this program: found version {found}, need {need}; run `migrate`"
    ))
}

fn unreadable(error: sqlx::Error) -> Error {
    let lost = matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut);
    let class = if lost { StoreClass::Transient } else { StoreClass::Permanent };
    Error::store("check of the schema", class, error)
}
