//! The shop: its own tables beside the engine's, and a carrier.

use gen_durable::Client;
use serde::Serialize;

use crate::{
    carrier::Carrier,
    database::{Database, on},
};

/// Serves the steps of an order.
#[derive(Debug, Clone)]
pub struct Shop {
    database: Database,
    carrier: Carrier,
}

/// An order as its row has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    pub order: i64,
    pub instance: i64,
    pub item: String,
    pub pieces: i64,
    pub state: String,
    /// The provider's, that decided it.
    pub event: Option<String>,
    pub payment: Option<i64>,
    pub tracking: Option<String>,
    pub reason: Option<String>,
}

impl Shop {
    /// Opens the shop: its tables are made when they are missing.
    pub async fn connect(client: &Client) -> Result<Self, sqlx::Error> {
        Self::with_carrier(client, Carrier::default()).await
    }

    pub async fn with_carrier(client: &Client, carrier: Carrier) -> Result<Self, sqlx::Error> {
        let database = Database::connect(client).await?;
        database.make_tables().await?;
        Ok(Self { database, carrier })
    }

    pub fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    pub fn database(&self) -> &Database {
        &self.database
    }

    pub async fn order(&self, order: i64) -> Result<Option<Row>, sqlx::Error> {
        let row = on!(Database, &self.database, pool => {
            sqlx::query_as(include_str!("sql/order.sql")).bind(order).fetch_optional(pool).await?
        });
        Ok(row.map(|(order, instance, item, pieces, state, event, payment, tracking, reason)| Row {
            order,
            instance,
            item,
            pieces,
            state,
            event,
            payment,
            tracking,
            reason,
        }))
    }

    /// What is left of an item.
    #[cfg(test)]
    pub async fn available(&self, item: &str) -> i64 {
        let left = on!(Database, &self.database, pool => {
            sqlx::query_scalar(include_str!("sql/available.sql")).bind(item).fetch_one(pool).await
        });
        left.expect("an item")
    }

    pub async fn close(&self) {
        self.database.close().await;
    }
}
