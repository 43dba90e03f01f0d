//! Periodic maintenance, in bounded pieces.

use std::{collections::BTreeSet, sync::Arc};

use sqlx::AssertSqlSafe;

use super::{Postgres, rows};
use crate::{Error, store::Swept};

impl Postgres {
    pub(super) async fn sweep(
        &self,
        operation: &'static str,
        sql: AssertSqlSafe<Arc<str>>,
        owner: Option<&str>,
        limit: u32,
    ) -> Result<Swept, Error> {
        let mut session = self.session(operation).await?;
        let query = sqlx::query(sql);
        let query = match owner {
            Some(owner) => query.bind(format!("{owner}#")),
            None => query,
        };
        let rows = session.rows(query.bind(i64::from(limit))).await?;
        session.end().await?;
        let queues = rows.iter().map(|r| rows::get(r, "queue")).collect::<Result<BTreeSet<String>, _>>()?;
        Ok(Swept { rows: rows.len(), queues: queues.into_iter().collect() })
    }

    pub(super) async fn reap_expired(&self, limit: u32) -> Result<Swept, Error> {
        self.sweep("reaping", self.statements().reap(), None, limit).await
    }

    pub(super) async fn claim_owners(&self) -> Result<Vec<String>, Error> {
        let mut session = self.session("looking for owners of claims").await?;
        let rows = session.rows(sqlx::query(self.statements().owners())).await?;
        session.end().await?;
        rows.iter().map(|r| rows::get(r, "owner")).collect()
    }
}
