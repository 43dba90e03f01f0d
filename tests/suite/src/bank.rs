//! Accounts, and transfers between them within the transaction of an outcome.

use gen_durable::{StepError, Tx};

use crate::Db;

/// What is on each account at first.
pub const BALANCE: i64 = 1_000;

/// One transfer; its number is booked once, or the booking fails.
#[derive(Debug, Clone, Copy)]
pub struct Booking {
    pub number: i64,
    pub from: i64,
    pub to: i64,
    pub amount: i64,
}

/// So many accounts, with their first balance, and no bookings.
pub async fn open_accounts(db: &Db, accounts: i64) {
    db.run("CREATE TABLE accounts (id bigint PRIMARY KEY, balance bigint NOT NULL)").await;
    db.run("CREATE TABLE bookings (number bigint PRIMARY KEY)").await;
    let rows = format!("SELECT n - 1, {BALANCE} FROM generate_series(1, {accounts}) n");
    db.run(format!("INSERT INTO accounts (id, balance) {rows}")).await;
}

const DEBIT: &str = "UPDATE accounts SET balance = balance - $1 WHERE id = $2";
const CREDIT: &str = "UPDATE accounts SET balance = balance + $1 WHERE id = $2";
const ENTRY: &str = "INSERT INTO bookings (number) VALUES ($1)";

/// Takes from one, gives to the other, and writes it down.
pub async fn book(tx: &mut Tx<'_>, booking: Booking) -> Result<(), StepError> {
    let Booking { number, from, to, amount } = booking;
    // One text for both dialects; a program has one of these arms.
    #[cfg(feature = "postgres")]
    if let Ok(connection) = tx.postgres() {
        sqlx::query(DEBIT).bind(amount).bind(from).execute(&mut *connection).await?;
        sqlx::query(CREDIT).bind(amount).bind(to).execute(&mut *connection).await?;
        sqlx::query(ENTRY).bind(number).execute(connection).await?;
        return Ok(());
    }
    #[cfg(feature = "sqlite")]
    {
        let connection = tx.sqlite()?;
        sqlx::query(DEBIT).bind(amount).bind(from).execute(&mut *connection).await?;
        sqlx::query(CREDIT).bind(amount).bind(to).execute(&mut *connection).await?;
        sqlx::query(ENTRY).bind(number).execute(connection).await?;
    }
    Ok(())
}
