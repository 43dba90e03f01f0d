//! The rules under which a step is entered.

use crate::{
    machine::{ConcurrencyKey, Key, KeyText, RateLimit, RateLimitInfo},
    model::{ConcurrencySlot, Invalid, Json, RateTake},
};
/// All names of several signals.
pub fn names(of: &[&[&'static str]]) -> Vec<&'static str> {
    of.concat()
}

/// For each name of several signals the position of its signal.
pub fn groups(of: &[&[&'static str]]) -> Vec<i16> {
    (0..).zip(of).flat_map(|(at, names)| names.iter().map(move |_| at)).collect()
}

/// A quorum as the store counts it; one beyond any number of children is out of reach.
pub fn quorum(field: u64) -> u32 {
    u32::try_from(field).unwrap_or(u32::MAX)
}

/// Step data is a JSON object.
///
/// # Errors
/// When it is not.
pub fn object(json: Json) -> Result<Json, Invalid> {
    match json.as_str() {
        "null" => Ok(Json::object()),
        text if text.starts_with('{') => Ok(json),
        _ => Err(Invalid::new("state", "is not a JSON object: step data is a struct with named fields")),
    }
}

/// The key of a limit, with its parts.
pub fn key_text<K: Key>(name: &str, parts: K::Refs<'_>) -> String {
    let mut key = KeyText::new(name);
    K::write(parts, &mut key);
    key.finish()
}

/// What a rate limit takes.
pub fn rate_take<L: RateLimit>(parts: <L::Key as Key>::Refs<'_>, weight: u64) -> RateTake {
    let key = key_text::<L::Key>(L::NAME, parts);
    RateTake { key, weight: count(weight), weight_max: f64::from(L::BURST) / f64::from(L::SHARDS.max(1)) }
}

/// The slot of a concurrency key.
pub fn concurrency_slot<K: ConcurrencyKey>(parts: <K::Key as Key>::Refs<'_>) -> ConcurrencySlot {
    ConcurrencySlot { key: key_text::<K::Key>(K::NAME, parts), limit: K::LIMIT }
}

/// Tokens as the bucket counts them; above its burst a bucket refuses them anyway.
fn count(weight: u64) -> f64 {
    u32::try_from(weight).map_or(f64::INFINITY, f64::from)
}

/// A weight in a field: any unsigned integer.
#[diagnostic::on_unimplemented(
    message = "a weight or quorum field is an unsigned integer, not `{Self}`",
    label = "not an unsigned integer"
)]
pub trait Unsigned: Copy {
    /// As the widest one that is needed.
    fn widened(self) -> u64;
}
macro_rules! unsigned {
    ($($t:ty),*) => { $( impl Unsigned for $t {
        fn widened(self) -> u64 { u64::try_from(self).unwrap_or(u64::MAX) }
    } )* };
}
unsigned!(u8, u16, u32, u64, u128, usize);

/// Reads such a field.
pub fn unsigned<T: Unsigned>(field: &T) -> u64 {
    field.widened()
}

/// Checks that a constant weight can ever pass.
pub const fn weight_passes(info: &RateLimitInfo, weight: u64) -> bool {
    weight <= (info.burst as u64) / (if info.shards == 0 { 1 } else { info.shards as u64 })
}
