//! The oracle: what a store must answer, kept in memory, and random histories that run on it and on the real stores
//! side by side. The model knows nothing of SQL; it shares only the types of the `model` floor with the stores.
//!
//! Time never decides by the speed of the machine: delays are hours, and hours pass when the moments that stand in the
//! databases are moved into the past from outside. The model ticks a microsecond for each row it writes, and after
//! each step the stores' moments are set to the model's: they were compared before, to within some minutes, and from then on
//! order and due times are the same everywhere.

pub mod database;
pub mod driver;
pub mod history;
pub mod model;
mod row;
pub mod runner;

pub use row::{About, HOUR, Hidden, Instance, Letter, Line, Moments, Shown, value};
