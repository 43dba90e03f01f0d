//! What the steps write into the service's own tables, in the transaction of their transition.

use gen_durable::{StepError, Tx};

use crate::{
    database::{Connection, on},
    machine::Because,
};

/// How many rows a statement changed.
macro_rules! changed {
    ($tx:expr, $statement:ident $(, $value:expr)*) => {
        on!(Connection, Connection::of(&mut $tx)?, connection => {
            let query = sqlx::query(include_str!(concat!("sql/", stringify!($statement), ".sql")));
            query$(.bind($value))*.execute(connection).await?.rows_affected()
        })
    };
}

/// Its pieces are its own.
pub async fn reserve(mut tx: Tx<'_>, order: i64) -> Result<(), StepError> {
    if changed!(tx, take, order) == 0 {
        return Err(StepError::new("out of stock").permanent());
    }
    is_there(changed!(tx, reserved, order))
}

pub async fn pay(mut tx: Tx<'_>, order: i64, event: String, payment: i64) -> Result<(), StepError> {
    is_there(changed!(tx, paid, order, &event, payment))
}

pub async fn ship(mut tx: Tx<'_>, order: i64, tracking: String) -> Result<(), StepError> {
    is_there(changed!(tx, shipped, order, &tracking))
}

/// Puts back what it had.
pub async fn release(mut tx: Tx<'_>, order: i64, because: Because) -> Result<(), StepError> {
    let event = match &because {
        Because::Declined { event, .. } => Some(event),
        Because::NotReserved { .. } | Because::NobodyPaid | Because::NotShipped { .. } => None,
    };
    changed!(tx, put_back, order);
    is_there(changed!(tx, released, order, because.to_string(), event))
}

/// An instance that nobody placed (the verb `start` makes one) has no row.
fn is_there(rows: u64) -> Result<(), StepError> {
    if rows == 1 { Ok(()) } else { Err(StepError::new("no such order").permanent()) }
}
