use serde::{Serialize, de::DeserializeOwned};

/// What can be kept between steps: step data, carry, results, signals.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored: it is not `Serialize + Deserialize`",
    label = "kept in the database between steps",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`"
)]
pub trait Persist: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Persist for T {}
