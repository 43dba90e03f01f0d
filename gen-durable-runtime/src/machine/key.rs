//! Keys: business identities, concurrency keys and rate buckets, as escaped text.

use crate::model::InstanceId;

/// One part of a key. `#[derive(KeyPart)]` makes a newtype one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    label = "not a key part",
    note = "integers, `bool`, `char`, strings and `#[derive(KeyPart)]` newtypes can"
)]
pub trait KeyPart {
    /// Appends its text to `key`.
    fn write(&self, key: &mut KeyText);
}

/// The text of a key under construction: `name:part:part`, each part escaped.
///
/// ```
/// # use gen_durable_runtime::machine::KeyText;
/// let of = |a: &str, b: &str| { let mut key = KeyText::new("tenant"); key.part(a); key.part(b); key.finish() };
/// assert_eq!(of("t", "b"), "tenant:t:b");
/// assert_ne!(of("t:a", "b"), of("t", "a:b"));
/// ```
#[derive(Debug)]
pub struct KeyText(String);

impl KeyText {
    /// Begins with the name of what the key belongs to.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Appends one part; `:` and `%` are escaped as `%3A` and `%25`.
    pub fn part(&mut self, text: &str) {
        self.0.push(':');
        for c in text.chars() {
            match c {
                ':' => self.0.push_str("%3A"),
                '%' => self.0.push_str("%25"),
                other => self.0.push(other),
            }
        }
    }

    /// The whole key.
    pub fn finish(self) -> String {
        self.0
    }
}

/// The key type of a limit: a tuple of its parts.
pub trait Key {
    /// The parts, borrowed from a step.
    type Refs<'a>;
    /// Appends every part.
    fn write(parts: Self::Refs<'_>, key: &mut KeyText);
}

/// A key type without parts.
#[diagnostic::on_unimplemented(
    message = "this limit has a key, and no field is named for it",
    label = "add `by(field)`: the key is `{Self}`"
)]
pub trait NoKey: Key {
    #[doc(hidden)]
    fn none() -> Self::Refs<'static>;
}

impl NoKey for () {
    fn none() {}
}

/// A machine with a business key (`key(field, ..)` on its start steps).
#[diagnostic::on_unimplemented(
    message = "machine `{Self}` has no business key",
    label = "no start step of `{Self}` has `key(..)`",
    note = "declare it on a start step: `#[step(start, key(field))]`; or address the instance by its id"
)]
pub trait Keyed {
    /// Its type: one field's, or a tuple.
    type Key;

    /// As it is stored: `machine:part:part`.
    fn business_key<K: IntoKey<Self::Key>>(key: K) -> String;
}

/// Can stand for a business key of type `K`.
#[diagnostic::on_unimplemented(message = "`{Self}` is not this machine's business key", label = "the key is `{K}`")]
pub trait IntoKey<K> {
    /// Appends its parts.
    fn write_key(&self, key: &mut KeyText);
}

/// The type of a key part that the annotation cannot see: a field of the carry or of a data type of one's own.
#[derive(Debug, Clone, Copy)]
pub enum AnyKey {}

macro_rules! parts_by_display {
    ($($t:ty),*) => { $(
        impl KeyPart for $t {
            fn write(&self, key: &mut KeyText) { key.part(&self.to_string()) }
        }
        key_of_itself!($t);
    )* };
}
macro_rules! key_of_itself {
    ($t:ty) => {
        impl IntoKey<$t> for $t {
            fn write_key(&self, key: &mut KeyText) {
                KeyPart::write(self, key)
            }
        }
        impl IntoKey<AnyKey> for $t {
            fn write_key(&self, key: &mut KeyText) {
                KeyPart::write(self, key)
            }
        }
    };
}
parts_by_display!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, InstanceId);

impl KeyPart for str {
    fn write(&self, key: &mut KeyText) {
        key.part(self)
    }
}
impl KeyPart for String {
    fn write(&self, key: &mut KeyText) {
        key.part(self)
    }
}
key_of_itself!(String);
impl IntoKey<String> for str {
    fn write_key(&self, key: &mut KeyText) {
        key.part(self)
    }
}
impl IntoKey<AnyKey> for str {
    fn write_key(&self, key: &mut KeyText) {
        key.part(self)
    }
}
impl<T: KeyPart + ?Sized> KeyPart for &T {
    fn write(&self, key: &mut KeyText) {
        (**self).write(key)
    }
}
impl<K, T: IntoKey<K> + ?Sized> IntoKey<K> for &T {
    fn write_key(&self, key: &mut KeyText) {
        (**self).write_key(key)
    }
}

impl Key for () {
    type Refs<'a> = ();
    fn write((): (), _: &mut KeyText) {}
}

macro_rules! tuples {
    ($($t:ident $k:ident $n:tt),*) => {
        impl<$($t: KeyPart + 'static),*> Key for ($($t,)*) {
            type Refs<'a> = ($(&'a $t,)*);
            fn write(parts: Self::Refs<'_>, key: &mut KeyText) { $( parts.$n.write(key); )* }
        }
        impl<$($k, $t: IntoKey<$k>),*> IntoKey<($($k,)*)> for ($($t,)*) {
            fn write_key(&self, key: &mut KeyText) { $( self.$n.write_key(key); )* }
        }
    };
}
tuples!(A KA 0);
tuples!(A KA 0, B KB 1);
tuples!(A KA 0, B KB 1, C KC 2);
tuples!(A KA 0, B KB 1, C KC 2, D KD 3);
tuples!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4);
tuples!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4, F KF 5);
