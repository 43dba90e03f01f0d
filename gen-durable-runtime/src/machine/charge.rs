//! Charges: what an outcome really used of a rate limit.

use super::{IntoKey, KeyText, RateLimit};
use crate::model::{Charge, Invalid, admission::LimitConfig};

/// Can stand for the key of a limit, `K` being the tuple of its parts: a part alone where there is one, a tuple where there are
/// several, `()` where there is none.
#[diagnostic::on_unimplemented(message = "`{Self}` is not this limit's key", label = "the parts of the key are `{K}`")]
pub trait LimitKey<K> {
    /// Appends its parts.
    fn write_limit_key(&self, key: &mut KeyText);
}

impl LimitKey<()> for () {
    fn write_limit_key(&self, _: &mut KeyText) {}
}

impl<K, T: IntoKey<K>> LimitKey<(K,)> for T {
    fn write_limit_key(&self, key: &mut KeyText) {
        self.write_key(key);
    }
}

macro_rules! tuples {
    ($($t:ident $k:ident $n:tt),*) => {
        impl<$($k, $t: IntoKey<$k>),*> LimitKey<($($k,)*)> for ($($t,)*) {
            fn write_limit_key(&self, key: &mut KeyText) { $( self.$n.write_key(key); )* }
        }
    };
}
tuples!(A KA 0, B KB 1);
tuples!(A KA 0, B KB 1, C KC 2);
tuples!(A KA 0, B KB 1, C KC 2, D KD 3);
tuples!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4);
tuples!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4, F KF 5);

/// The stored key of a limit.
pub(crate) fn limit_key<K>(name: &str, key: impl LimitKey<K>) -> String {
    let mut text = KeyText::new(name);
    key.write_limit_key(&mut text);
    text.finish()
}

/// What a rate limit allows, as its type says it.
pub(crate) fn rate_config<L: RateLimit>() -> LimitConfig {
    let shards = i16::try_from(L::SHARDS).unwrap_or(i16::MAX);
    LimitConfig { capacity: f64::from(L::BURST), rate: f64::from(L::ALLOWED) / L::PER.as_secs_f64(), shards }
}

/// Keeps a charge, or the first reason why something of an outcome cannot be stored.
pub(super) fn charge<L: RateLimit>(
    charges: &mut Vec<Charge>,
    invalid: &mut Option<Invalid>,
    key: impl LimitKey<L::Key>,
    used: f64,
) {
    let charge = Charge { key: limit_key(L::NAME, key), used, config: rate_config::<L>() };
    match charge.check() {
        Ok(()) => charges.push(charge),
        Err(error) => *invalid = invalid.take().or(Some(error)),
    }
}
