//! What goes by its age, in pieces between which others come to write.

use super::{Sqlite, encode::json, rows, session::Survive, sql};
use crate::{
    Error,
    model::Purged,
    store::{
        retention::{CLEARED, ExpiredKeys, Halves, KeyExpiry, Purge, Went, within_a_piece},
        written::{micros, moment, timestamp},
    },
};

const OPERATION: &str = "deleting what has ended";
/// Rows in one transaction, which has the whole file: a start waits for no more.
const AT_ONCE: usize = 200;

impl Sqlite {
    /// The look only reads, beside whoever writes.
    pub(super) async fn purge_piece(&self, purge: &Purge<'_>) -> Result<Purged, Error> {
        let before = self.now().saturating_sub(micros(purge.age));
        let of = |e: &crate::store::Ended| (e.machine.clone(), e.version, e.status.as_str());
        let query = sqlx::query(sql::purge_look())
            .bind(before)
            .bind(purge.from.map_or(i64::MIN, moment))
            .bind(i64::from(purge.look))
            .bind(json(&purge.ended.iter().map(of).collect::<Vec<_>>())?)
            .bind(i64::from(purge.limit));
        let found = self.read("looking at what has ended", query).await?;
        let Some(row) = found.first() else { return Ok(Purged::default()) };
        let due = ids(rows::get(row, "due")?)?;
        let last = rows::get::<Option<i64>>(row, "last_us")?.map(|us| timestamp(us.max(0)));
        let mut purged = Purged { seen: rows::small(row, "seen")?, last, due: due.len(), ..Purged::default() };
        let mut open = Halves::of(&due, AT_ONCE);
        while let Some(ids) = open.take() {
            let went = self.purge_these(&ids, before).await;
            open.settle(ids, went, &mut purged)?;
        }
        Ok(purged)
    }

    async fn purge_these(&self, due: &[i64], before: i64) -> Result<Went, Error> {
        let mut session = self.writing(OPERATION, Survive::Crash).await?;
        let held = session.rows(sqlx::query(sql::purge_hold()).bind(json(&due)?).bind(before)).await?;
        let held = held.iter().map(|r| Ok((rows::get(r, "id")?, rows::get(r, "signals")?)));
        let ids = json(&within_a_piece(held.collect::<Result<Vec<_>, Error>>()?.into_iter()))?;
        let mut went = Went::default();
        for clear in [sql::purge_children(), sql::purge_lines()] {
            went.cleared += session.rows(sqlx::query(clear).bind(&ids).bind(CLEARED)).await?.len();
        }
        let gone = session.rows(sqlx::query(sql::purge()).bind(&ids)).await?;
        let gone = gone.iter().map(|r| rows::get(r, "id")).collect::<Result<Vec<i64>, _>>()?;
        // None is left of ours; those of a row that somebody ended by hand may be.
        session.rows(sqlx::query(sql::release_held()).bind(json(&gone)?)).await?;
        session.end().await?;
        Ok(Went { gone: gone.len(), ..went })
    }

    pub(super) async fn expire_some_keys(&self, expiry: &KeyExpiry<'_>) -> Result<ExpiredKeys, Error> {
        let before = self.now().saturating_sub(micros(expiry.age));
        let query = sqlx::query(sql::expire_keys_look()).bind(before).bind(expiry.after);
        let query = query.bind(i64::from(expiry.limit)).bind(json(&expiry.machines)?);
        let found = self.read("looking at dedup keys", query).await?;
        let Some(row) = found.first() else { return Ok(ExpiredKeys::default()) };
        let last = rows::get::<Option<i64>>(row, "last")?.unwrap_or(expiry.after);
        let more = rows::get::<i64>(row, "seen")? == i64::from(expiry.limit);
        let spent = ids(rows::get(row, "spent")?)?;
        if spent.is_empty() {
            return Ok(ExpiredKeys { gone: 0, last, more });
        }
        let mut session = self.writing("letting dedup keys go", Survive::Crash).await?;
        let gone = session.rows(sqlx::query(sql::expire_keys()).bind(json(&spent)?).bind(before)).await?.len();
        session.end().await?;
        Ok(ExpiredKeys { gone, last, more })
    }
}

fn ids(list: &str) -> Result<Vec<i64>, Error> {
    serde_json::from_str(list).map_err(|_| rows::unreadable("due"))
}
