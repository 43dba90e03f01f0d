//! What a copy asks of a dialect.

use std::{fmt::Display, pin::Pin, time::Duration};

use futures_util::Stream;

use super::{Row, Table, Value};
use crate::{Error, StoreClass, store::Pending};

pub(in crate::store) const COPYING: &str = "copying";

/// Which end of the copy a database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is read; nothing in it changes.
    Source,
    /// It is filled.
    Target,
}

/// Rows as they come.
pub type Rows<'a> = Pin<Box<dyn Stream<Item = Result<Row, Error>> + Send + 'a>>;

/// One side of a copy: a connection in one transaction, while which nobody else writes. Nothing of it stands before
/// [`Side::commit`], whatever happens to the process.
pub trait Side: Send {
    /// The columns of the table that are not generated.
    fn columns(&mut self, table: Table) -> Pending<'_, Vec<String>>;

    /// The claims that stand.
    fn claims(&mut self) -> Pending<'_, Claims>;

    /// The rows of the table, of an ascending id where there is one. A few are in memory at once.
    fn rows(&mut self, table: Table) -> Rows<'_>;

    /// How many rows there are, in the order of [`Table::ALL`].
    fn counts(&mut self) -> Pending<'_, Counts>;

    /// The highest ids that were ever given.
    fn marks(&mut self) -> Pending<'_, Marks>;

    /// Inserts rows, or for [`Table::Links`] sets the parents. An error names the first row that cannot stand.
    fn write<'a>(&'a mut self, table: Table, page: &'a Page) -> Pending<'a, ()>;

    /// Ends the transaction; ids go on above the marks.
    fn commit(&mut self, marks: Marks) -> Pending<'_, ()>;

    /// Lets go of the database. Without a commit it is as it was.
    fn close(self: Box<Self>) -> Pending<'static, ()>;
}

/// Rows of each of [`Table::ALL`].
pub type Counts = [i64; Table::ALL.len()];

/// The claims whose lease is not over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Claims {
    /// How many.
    pub count: i64,
    /// How long it is until the last of them is over.
    pub longest: Duration,
}

/// The highest ids that were ever given: they never come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Of instances.
    pub instances: i64,
    /// Of signals.
    pub signals: i64,
    /// Of lines of history.
    pub history: i64,
}

/// Rows that are written at once.
#[derive(Debug, Default)]
pub struct Page {
    /// The rows.
    pub rows: Vec<Row>,
    /// How many rows of the table came before.
    pub before: usize,
}

impl Page {
    /// Why a row of this page cannot stand. A row is named by its id, else by its number in the order of the primary
    /// key: a key may be a secret.
    pub fn refused(&self, table: Table, at: usize, column: Option<&str>, why: impl Display) -> Error {
        row_refused(table, self.rows.get(at).map_or(&[], Vec::as_slice), self.before + at, column, why)
    }
}

/// Why a row cannot be copied: the row that comes after `at` others of its table, as far as it could be read.
pub fn row_refused(table: Table, row: &[Value], at: usize, column: Option<&str>, why: impl Display) -> Error {
    let name = match row.first() {
        Some(Value::Int(id)) if table.has_ids() => format!("id {id}"),
        _ => format!("row {}", at + 1),
    };
    let column = column.map(|c| format!(", column {c}")).unwrap_or_default();
    refuse(format!("{} {name}{column}: {why}", table.name()))
}

/// It will not go better later.
pub(in crate::store) fn refuse(why: impl Into<String>) -> Error {
    Error::store(COPYING, StoreClass::Permanent, why.into())
}

/// Someone is at work.
pub(in crate::store) fn in_use(why: impl Into<String>) -> Error {
    Error::store(COPYING, StoreClass::Transient, why.into())
}
