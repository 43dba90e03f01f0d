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

/// `T` again, in a spelling that is not looked through: a bound on it is taken as given where the impl stands, and
/// asked for where the impl is used. So a field that cannot be stored is one error of ours, not five of serde's.
pub trait Same<'a> {
    /// `Self`.
    type Type: ?Sized;
}

impl<T: ?Sized> Same<'_> for T {
    type Type = T;
}
