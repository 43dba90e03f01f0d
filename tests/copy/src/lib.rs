//! What the tests of `copy` share: a place for each store, what stands in it by plain SQL, and a machine.

mod dump;
mod order;
mod place;

pub use dump::{Dump, dump, raw, tables};
pub use order::{Order, Paid, Reserve, Shop};
pub use place::{Fault, Kind, Outcome, Place};

/// Every status, every column, on SQLite; made by hand, beside the library.
pub const EVERYTHING: &str = include_str!("../sql/everything.sql");
/// Many rows on SQLite, parents after their children, for [`many`].
pub const MANY: &str = include_str!("../sql/many.sql");
/// The same on Postgres.
pub const MANY_POSTGRES: &str = include_str!("../sql/many_postgres.sql");

/// So many rows, with a note of so many bytes in each.
pub fn many(sql: &str, rows: usize, note: usize) -> String {
    sql.replace("{rows}", &rows.to_string()).replace("{note}", &"x".repeat(note))
}
