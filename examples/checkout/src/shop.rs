//! The shop: what it has, and what it holds for whom.

use gen_durable::Client;
use sqlx::{AnyPool, any::AnyPoolOptions};

use crate::carrier::Carrier;

/// Serves the steps of the checkout. `AnyPool`, because the example runs on either database; a shop that has decided
/// takes a `SqlitePool` or a `PgPool`.
#[derive(Debug, Clone)]
pub struct Shop {
    pool: AnyPool,
    carrier: Carrier,
}

/// There are not as many pieces, or no such item.
#[derive(Debug, PartialEq, Eq)]
pub struct OutOfStock;

/// What the shop's own books say.
#[derive(Debug)]
pub struct Books {
    pub calls: i64,
    pub failed_calls: i64,
    pub left: i64,
    pub held: i64,
    pub sold: i64,
}

impl Shop {
    /// Opens the shop: its tables stand beside the engine's, and are made when they are missing.
    pub async fn connect(client: &Client) -> Result<Self, sqlx::Error> {
        // Both databases understand the shop's statements; only the tables are written differently. SQLite has one
        // writer at a time: more connections would but wait for each other.
        let (tables, connections) = match client.url().starts_with("sqlite:") {
            true => (include_str!("sql/tables.sqlite.sql"), 1),
            false => (include_str!("sql/tables.postgres.sql"), 10),
        };
        sqlx::any::install_default_drivers();
        let pool = AnyPoolOptions::new().max_connections(connections).connect(client.url()).await?;
        sqlx::raw_sql(tables).execute(&pool).await?;
        Ok(Self::on(pool))
    }

    fn on(pool: AnyPool) -> Self {
        Self { carrier: Carrier::new(pool.clone()), pool }
    }

    /// A shop that is nowhere: for tests of steps that do not look at it.
    #[cfg(test)]
    pub fn unconnected() -> Self {
        sqlx::any::install_default_drivers();
        Self::on(AnyPoolOptions::new().connect_lazy("sqlite://nowhere").expect("a URL"))
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    /// Takes pieces from the stock and holds them: once for a key.
    pub async fn hold(
        &self,
        order: u64,
        item: &str,
        pieces: u32,
        key: &str,
    ) -> Result<Result<i64, OutOfStock>, sqlx::Error> {
        let before = sqlx::query_scalar(include_str!("sql/held.sql")).bind(key);
        if let Some(hold) = before.fetch_optional(&self.pool).await? {
            return Ok(Ok(hold));
        }
        // It begins with a write: on SQLite a transaction that has read before may be refused its first write.
        let mut both = self.pool.begin().await?;
        let take = sqlx::query(include_str!("sql/take.sql")).bind(item).bind(i64::from(pieces));
        if take.execute(&mut *both).await?.rows_affected() == 0 {
            return Ok(Err(OutOfStock));
        }
        // Two at once with one key: the second fails here, takes nothing, and comes again.
        let hold = sqlx::query_scalar(include_str!("sql/hold.sql"));
        let hold = hold.bind(key).bind(number(order)).bind(item).bind(i64::from(pieces));
        let hold = hold.fetch_one(&mut *both).await?;
        both.commit().await?;
        Ok(Ok(hold))
    }

    /// How many pieces are held.
    pub async fn pieces(&self, hold: i64) -> Result<i64, sqlx::Error> {
        sqlx::query_scalar(include_str!("sql/pieces.sql")).bind(hold).fetch_one(&self.pool).await
    }

    /// What is held has left the house.
    pub async fn sell(&self, hold: i64) -> Result<(), sqlx::Error> {
        sqlx::query(include_str!("sql/sell.sql")).bind(hold).execute(&self.pool).await.map(drop)
    }

    /// Puts back what is held; a second time changes nothing.
    pub async fn free(&self, hold: i64) -> Result<(), sqlx::Error> {
        let mut both = self.pool.begin().await?;
        let freed = sqlx::query_as(include_str!("sql/free.sql")).bind(hold).fetch_optional(&mut *both).await?;
        if let Some((item, pieces)) = freed {
            let (item, pieces): (String, i64) = (item, pieces);
            sqlx::query(include_str!("sql/put_back.sql")).bind(item).bind(pieces).execute(&mut *both).await?;
        }
        both.commit().await
    }

    pub async fn books(&self) -> Result<Books, sqlx::Error> {
        let (calls, failed_calls, left, held, sold) =
            sqlx::query_as(include_str!("sql/books.sql")).fetch_one(&self.pool).await?;
        Ok(Books { calls, failed_calls, left, held, sold })
    }
}

/// As a database stores it: the same 64 bits.
pub fn number(order: u64) -> i64 {
    order.cast_signed()
}
