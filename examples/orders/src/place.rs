//! A new order: its row and its instance in one transaction.

use std::time::Duration;

use gen_durable::{Client, start};
use serde::Deserialize;
use sqlx::error::ErrorKind;

use crate::{
    database::{Transaction, on},
    fault::Fault,
    machine::Reserve,
    shop::{Row, Shop},
};

/// What a customer asks for.
#[derive(Debug, Clone, Deserialize)]
pub struct NewOrder {
    pub order: i64,
    pub item: String,
    pub pieces: u16,
    /// How long the shop waits for the payment.
    #[serde(default = "quarter_of_an_hour", with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub patience: Duration,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// It is committed, and so is its instance.
    New { instance: i64 },
    /// The same order was placed before.
    Before { instance: i64 },
    /// Another order has this number.
    Taken,
    /// The shop has no such item: no row, no instance.
    NoSuchItem,
}

/// The longest that a customer may take.
const PATIENCE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl NewOrder {
    /// What needs no database to be refused.
    pub fn check(&self) -> Result<(), &'static str> {
        match () {
            () if self.pieces == 0 => Err("no pieces"),
            () if self.patience > PATIENCE_MAX => Err("patience is at most 30 days"),
            () => Ok(()),
        }
    }
}

impl Shop {
    /// Writes an order and starts its instance: both or neither.
    pub async fn place(&self, client: &Client, new: &NewOrder) -> Result<Placed, Fault> {
        let mut tx = self.database().begin().await?;
        let reserve = Reserve { order: new.order, patience: new.patience };
        // Of two at once the second waits here for the first's commit, and is told its instance.
        let handle = client.in_transaction(&mut tx).start(start(reserve)).await?;
        let Some(instance) = handle.id().filter(|_| handle.is_new()) else {
            drop(tx);
            return Ok(self.order(new.order).await?.map_or(Placed::Taken, |row| row.again(new)));
        };
        match insert(&mut tx, new, instance.get()).await {
            Ok(()) => {
                tx.commit().await?;
                Ok(Placed::New { instance: instance.get() })
            }
            // `tx` is dropped: the instance that was started in it never was.
            Err(error) => refused(error),
        }
    }
}

async fn insert(tx: &mut Transaction, new: &NewOrder, instance: i64) -> Result<(), sqlx::Error> {
    let NewOrder { order, item, pieces, .. } = new;
    on!(Connection, tx.connection(), connection => {
        let insert = sqlx::query(include_str!("sql/insert.sql")).bind(order).bind(instance).bind(item);
        insert.bind(i64::from(*pieces)).execute(connection).await.map(drop)
    })
}

fn refused(error: sqlx::Error) -> Result<Placed, Fault> {
    match error.as_database_error().map(|error| error.kind()) {
        Some(ErrorKind::ForeignKeyViolation) => Ok(Placed::NoSuchItem),
        // Its instance is gone, the order is not.
        Some(ErrorKind::UniqueViolation) => Ok(Placed::Taken),
        _ => Err(error.into()),
    }
}

impl Row {
    fn again(&self, new: &NewOrder) -> Placed {
        match (&self.item, self.pieces) == (&new.item, i64::from(new.pieces)) {
            true => Placed::Before { instance: self.instance },
            false => Placed::Taken,
        }
    }
}

fn quarter_of_an_hour() -> Duration {
    Duration::from_secs(15 * 60)
}
