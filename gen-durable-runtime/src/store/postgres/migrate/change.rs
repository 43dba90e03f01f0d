//! What one transaction changes: the schema, and the versions on the way.

use sqlx::postgres::PgConnection;
use sqlx::query_scalar;

use super::fault::Fault;
use super::installed::{Installed, refuse_newer};
use super::plan::{MigrateTo, Plan};
use super::report::Step;
use super::rewrite::{self, TableSize};
use super::script::{Direction, INDEXES, Script, way};
use super::session::execute;
use super::version::{OWN_LATEST, SEED_LATEST, SchemaVersion, Version};
use crate::error::Error;
use crate::store::SchemaName;

const CREATE_SCHEMA: &str = include_str!("sql/create_schema.sql");
const DROP_SCHEMA: &str = include_str!("sql/drop_schema.sql");
const LOCK_TABLES: &str = include_str!("sql/lock_tables.sql");
const MARK_SCHEMA: &str = include_str!("sql/mark_schema.sql");
const SCHEMA_IS_OURS: &str = include_str!("sql/schema_is_ours.sql");

/// Goes the way of the plan on a connection that holds the migrators' lock.
pub(super) async fn make(
    conn: &mut PgConnection,
    schema: &SchemaName,
    plan: &Plan,
) -> Result<(SchemaVersion, Vec<Step>), Fault> {
    let mut change = Change { conn, schema, plan, steps: Vec::new() };
    let version = change.make().await?;
    Ok((version, change.steps))
}

struct Change<'a> {
    conn: &'a mut PgConnection,
    schema: &'a SchemaName,
    plan: &'a Plan,
    steps: Vec<Step>,
}

impl Change<'_> {
    async fn make(&mut self) -> Result<SchemaVersion, Fault> {
        let installed = Installed::read(self.conn, self.schema).await?;
        let meta = installed.meta(self.conn, self.schema).await?;
        refuse_newer(self.schema, installed.seed, meta)?;
        let to = self.plan.target()?;
        let mut from = SchemaVersion { seed: installed.seed, own: meta.version };
        if meta.version > OWN_LATEST {
            return self.leave_newer(from);
        }
        // The Elixir migrator takes down its tables and leaves our record, which then says nothing.
        if from.seed == 0 && to.own > 0 {
            from.own = 0;
        }
        let way = way(from, to);
        if to.seed > 0 && !installed.schema_exists {
            self.create_schema().await?;
        }
        self.go(from, &way).await?;
        if to.seed == 0 {
            self.drop_schema().await?;
        }
        Ok(to)
    }

    /// A newer program's schema serves this one, but only that program can take it down.
    fn leave_newer(&self, found: SchemaVersion) -> Result<SchemaVersion, Fault> {
        match self.plan.to {
            MigrateTo::Latest => Ok(found),
            MigrateTo::Seed(_) => Err(Error::schema(format!(
                "the schema {} is newer than this program: found version {found}, known up to {}; take it down with \
                 the program that made it",
                self.schema,
                SchemaVersion::LATEST
            ))
            .into()),
        }
    }

    async fn go(&mut self, from: SchemaVersion, way: &[(&Script, Direction)]) -> Result<(), Fault> {
        let rewritten = self.rewrite_size(from, way).await?;
        if from.seed > 0 && !way.is_empty() {
            execute(self.conn, self.schema, LOCK_TABLES).await?;
        }
        for (script, direction) in way {
            for statement in script.statements(*direction) {
                execute(self.conn, self.schema, statement).await?;
            }
            let step = match (direction, script.version, rewritten) {
                (Direction::Down, version, _) => Step::Down(version),
                (
                    Direction::Up,
                    version @ Version::Seed(SEED_LATEST),
                    Some(TableSize { rows, all_bytes: bytes, .. }),
                ) => Step::Rewritten { version, rows, bytes },
                (Direction::Up, version, _) => {
                    self.build_small_indexes(version).await?;
                    Step::Up(version)
                }
            };
            self.steps.push(step);
        }
        Ok(())
    }

    /// The size of what version 3 will rewrite, if it is on the way and there is something.
    async fn rewrite_size(
        &mut self,
        from: SchemaVersion,
        way: &[(&Script, Direction)],
    ) -> Result<Option<TableSize>, Fault> {
        let rewrites = |(script, direction): &(&Script, Direction)| {
            script.version == Version::Seed(SEED_LATEST) && *direction == Direction::Up
        };
        if from.seed == 0 || !way.iter().any(rewrites) {
            return Ok(None);
        }
        let size = rewrite::measure(self.conn, self.schema, self.plan).await?;
        rewrite::guard(size, self.schema, self.plan)?;
        Ok(Some(size))
    }

    /// On a small table an index is built here and now: a concurrent build would wait for every old snapshot.
    async fn build_small_indexes(&mut self, version: Version) -> Result<(), Fault> {
        for index in INDEXES.iter().filter(|index| version == Version::Own(index.own)) {
            let size = TableSize::read(self.conn, self.schema, index.table).await?;
            if size.heap_bytes <= self.plan.small_table_bytes {
                execute(self.conn, self.schema, index.create).await?;
            }
        }
        Ok(())
    }

    async fn create_schema(&mut self) -> Result<(), Fault> {
        execute(self.conn, self.schema, CREATE_SCHEMA).await?;
        execute(self.conn, self.schema, MARK_SCHEMA).await?;
        self.steps.push(Step::SchemaCreated(self.schema.to_string()));
        Ok(())
    }

    async fn drop_schema(&mut self) -> Result<(), Fault> {
        let query = query_scalar(SCHEMA_IS_OURS).persistent(false).bind(self.schema.as_str());
        let ours: bool = query.fetch_one(&mut *self.conn).await?;
        if ours {
            execute(self.conn, self.schema, DROP_SCHEMA).await?;
            self.steps.push(Step::SchemaDropped(self.schema.to_string()));
        }
        Ok(())
    }
}
