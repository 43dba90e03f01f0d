//! The look from outside: one text for both stores.

use std::borrow::Cow;

use crate::translate::to_sqlite;

/// What a test asks a database: Postgres SQL, which is translated for SQLite, or both spellings.
pub trait ToSql {
    fn postgres(&self) -> Cow<'_, str>;
    fn sqlite(&self) -> Cow<'_, str>;
}

/// Where two spellings are clearer than a translation.
#[derive(Debug, Clone, Copy)]
pub struct Sql {
    pub postgres: &'static str,
    pub sqlite: &'static str,
}

impl ToSql for Sql {
    fn postgres(&self) -> Cow<'_, str> {
        self.postgres.into()
    }
    fn sqlite(&self) -> Cow<'_, str> {
        self.sqlite.into()
    }
}

impl ToSql for &str {
    fn postgres(&self) -> Cow<'_, str> {
        (*self).into()
    }
    fn sqlite(&self) -> Cow<'_, str> {
        to_sqlite(self).into()
    }
}

impl ToSql for String {
    fn postgres(&self) -> Cow<'_, str> {
        self.into()
    }
    fn sqlite(&self) -> Cow<'_, str> {
        to_sqlite(self).into()
    }
}
