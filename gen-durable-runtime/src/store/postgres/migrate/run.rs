use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::fault::{Fault, explain};
use super::patience::Patience;
use super::plan::Plan;
use super::report::{Report, Step};
use super::script::INDEXES;
use super::session::{begin_locked, connect};
use super::version::SchemaVersion;
use super::{change, holders, index};
use crate::error::{Error, StoreClass};
use crate::store::SchemaName;

/// One migration, from the first look to the last step.
pub(super) struct Run<'a> {
    pub(super) options: &'a PgConnectOptions,
    pub(super) schema: &'a SchemaName,
    pub(super) plan: &'a Plan,
    pub(super) conn: PgConnection,
    pub(super) patience: Patience,
    pub(super) steps: Vec<Step>,
}

impl<'a> Run<'a> {
    pub(super) async fn open(
        options: &'a PgConnectOptions,
        schema: &'a SchemaName,
        plan: &'a Plan,
    ) -> Result<Self, Error> {
        plan.target()?;
        let conn = connect(options).await.map_err(explain)?;
        Ok(Self { options, schema, plan, conn, patience: Patience::new(plan.patience), steps: Vec::new() })
    }

    /// Tries until it is done, the patience is over, or trying again is no use.
    pub(super) async fn finish(mut self) -> Result<Report, Error> {
        loop {
            match self.attempt().await {
                Ok(version) => return Ok(Report { steps: self.steps, version }),
                Err(fault) => self.wait_after(fault).await?,
            }
        }
    }

    async fn attempt(&mut self) -> Result<SchemaVersion, Fault> {
        let version = self.apply().await?;
        for built in INDEXES.iter().filter(|index| index.own <= version.own) {
            index::ensure(self, built).await?;
        }
        Ok(version)
    }

    /// Everything but the concurrent builds, in one transaction.
    async fn apply(&mut self) -> Result<SchemaVersion, Fault> {
        let mut tx = begin_locked(&mut self.conn, self.schema, self.plan.lock_wait).await?;
        let (version, steps) = change::make(&mut tx, self.schema, self.plan).await?;
        tx.commit().await?;
        for step in steps {
            self.note(step);
        }
        Ok(version)
    }

    /// Takes down a step that was committed.
    pub(super) fn note(&mut self, step: Step) {
        tracing::info!(schema = self.schema.as_str(), "migrated: {step}");
        self.steps.push(step);
    }

    async fn wait_after(&mut self, fault: Fault) -> Result<(), Error> {
        let what = match fault {
            Fault::Fatal(error) => return Err(error),
            Fault::Collision(error) if !self.patience.forgives_collision() => return Err(explain(error)),
            Fault::Collision(_) | Fault::Busy => "another migrator is at work",
            Fault::Locked => "the tables are in use by others",
        };
        if self.patience.is_over() {
            return Err(self.gave_up(what).await);
        }
        tracing::debug!(schema = self.schema.as_str(), "waiting: {what}");
        match fault {
            Fault::Locked => self.patience.back_off().await,
            Fault::Busy | Fault::Collision(_) | Fault::Fatal(_) => self.patience.poll().await,
        }
        Ok(())
    }

    async fn gave_up(&mut self, what: &str) -> Error {
        let holders = holders::list(&mut self.conn, self.schema).await;
        let text = format!("{what}, and were for {:?}{holders}; run `migrate` again later", self.plan.patience);
        Error::store("migrate", StoreClass::Transient, text)
    }
}
