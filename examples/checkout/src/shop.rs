//! The shop: what it has, and what it holds for whom.

use gen_durable::Client;
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::carrier::Carrier;

/// Serves the steps of the checkout.
#[derive(Debug, Clone)]
pub struct Shop {
    pool: PgPool,
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
    pub async fn connect(client: &Client) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let pool = PgPoolOptions::new().max_connections(10).connect(client.url()).await?;
        let mut making = pool.begin().await?;
        // Two workers may open at once, and `IF NOT EXISTS` does not wait for another's transaction.
        sqlx::query(include_str!("sql/lock.sql")).execute(&mut *making).await?;
        sqlx::raw_sql(include_str!("sql/tables.sql")).execute(&mut *making).await?;
        making.commit().await?;
        Ok(Self::on(pool))
    }

    fn on(pool: PgPool) -> Self {
        Self { carrier: Carrier::new(pool.clone()), pool }
    }

    /// A shop that is nowhere: for tests of steps that do not look at it.
    #[cfg(test)]
    pub fn unconnected() -> Self {
        Self::on(PgPoolOptions::new().connect_lazy("postgres://nowhere").expect("a URL"))
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
        let hold = sqlx::query_scalar(include_str!("sql/hold.sql"));
        let hold = hold.bind(key).bind(number(order)).bind(item).bind(i64::from(pieces));
        Ok(hold.fetch_optional(&self.pool).await?.ok_or(OutOfStock))
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
        sqlx::query(include_str!("sql/free.sql")).bind(hold).execute(&self.pool).await.map(drop)
    }

    pub async fn books(&self) -> Result<Books, sqlx::Error> {
        let (calls, failed_calls, left, held, sold) =
            sqlx::query_as(include_str!("sql/books.sql")).fetch_one(&self.pool).await?;
        Ok(Books { calls, failed_calls, left, held, sold })
    }
}

/// As Postgres stores it: the same 64 bits.
pub fn number(order: u64) -> i64 {
    order.cast_signed()
}
