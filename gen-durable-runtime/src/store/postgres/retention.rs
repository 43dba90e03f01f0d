//! What goes by its age, in pieces that wait for nobody.

use super::{Postgres, rows, session::Session};
use crate::{
    Error,
    model::Purged,
    store::{
        retention::{CLEARED, ExpiredKeys, Halves, KeyExpiry, Purge, Went, within_a_piece},
        written::moment,
    },
};

const OPERATION: &str = "deleting what has ended";

impl Postgres {
    pub(super) async fn purge_piece(&self, purge: &Purge<'_>) -> Result<Purged, Error> {
        let (mut purged, due) = self.look(purge).await?;
        let mut open = Halves::of(&due, due.len().max(1));
        while let Some(ids) = open.take() {
            let went = self.purge_these(&ids, purge).await;
            open.settle(ids, went, &mut purged)?;
        }
        Ok(purged)
    }

    async fn look(&self, purge: &Purge<'_>) -> Result<(Purged, Vec<i64>), Error> {
        let column = |of: fn(&crate::store::Ended) -> &str| purge.ended.iter().map(of).collect::<Vec<_>>();
        let versions: Vec<i32> = purge.ended.iter().map(|e| e.version).collect();
        let query = sqlx::query(self.statements().purge_look())
            .bind(rows::micros(purge.age))
            .bind(purge.from.map(moment))
            .bind(i64::from(purge.look))
            .bind(column(|e| e.machine.as_str()))
            .bind(versions)
            .bind(column(|e| e.status.as_str()))
            .bind(i64::from(purge.limit));
        let found = self.ask(OPERATION, query).await?;
        let Some(row) = found.first() else { return Ok((Purged::default(), vec![])) };
        let due: Vec<i64> = rows::get(row, "due")?;
        let last = rows::get::<Option<i64>>(row, "last_us")?.map(rows::timestamp);
        let seen = usize::try_from(rows::get::<i64>(row, "seen")?).unwrap_or(0);
        Ok((Purged { seen, last, due: due.len(), ..Purged::default() }, due))
    }

    /// What was refused is taken back before its halves are tried: they would find it locked.
    /// What was refused is taken back before its halves are tried: they would find it locked.
    async fn purge_these(&self, due: &[i64], purge: &Purge<'_>) -> Result<Went, Error> {
        let mut session = self.session(OPERATION).await?;
        session.begin().await?;
        match self.purge_on(&mut session, due, purge).await {
            Ok(went) => session.end().await.map(|()| went),
            Err(error) if error.is_transient() => Err(error),
            Err(error) => session.roll_back().await.and(Err(error)),
        }
    }

    /// Whoever is held by someone else stays.
    async fn purge_on(&self, session: &mut Session<'_>, due: &[i64], purge: &Purge<'_>) -> Result<Went, Error> {
        let query = sqlx::query(self.statements().purge_hold()).bind(due).bind(rows::micros(purge.age));
        let held = session.rows(query).await?;
        let held = held.iter().map(|r| Ok((rows::get(r, "id")?, rows::get(r, "signals")?)));
        let ids = within_a_piece(held.collect::<Result<Vec<_>, Error>>()?.into_iter());
        let mut went = Went::default();
        for clear in [self.statements().purge_children(), self.statements().purge_lines()] {
            went.cleared += session.rows(sqlx::query(clear).bind(&ids).bind(CLEARED)).await?.len();
        }
        let gone = session.rows(sqlx::query(self.statements().purge()).bind(&ids)).await?;
        let gone = gone.iter().map(|r| rows::get(r, "id")).collect::<Result<Vec<i64>, _>>()?;
        // None is left of ours; those of another engine's end may be.
        session.rows(sqlx::query(self.statements().release_held()).bind(&gone)).await?;
        Ok(Went { gone: gone.len(), ..went })
    }

    pub(super) async fn expire_some_keys(&self, expiry: &KeyExpiry<'_>) -> Result<ExpiredKeys, Error> {
        let (machines, versions): (Vec<&str>, Vec<i32>) = expiry.machines.iter().map(|(m, v)| (m.as_str(), *v)).unzip();
        let query = sqlx::query(self.statements().expire_keys())
            .bind(rows::micros(expiry.age))
            .bind(expiry.after)
            .bind(i64::from(expiry.limit))
            .bind(machines)
            .bind(versions);
        let found = self.ask("letting dedup keys go", query).await?;
        let Some(row) = found.first() else { return Ok(ExpiredKeys::default()) };
        let last = rows::get::<Option<i64>>(row, "last")?.unwrap_or(expiry.after);
        let more = rows::get::<i64>(row, "seen")? == i64::from(expiry.limit);
        Ok(ExpiredKeys { gone: usize::try_from(rows::get::<i64>(row, "gone")?).unwrap_or(0), last, more })
    }
}
