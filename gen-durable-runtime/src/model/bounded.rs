//! What JSON text cannot hold, refused as it is written: a number that is not finite, which would become `null`, and a
//! nesting that nobody could read back, or that would end the thread's stack first.

use serde::{
    Serialize, Serializer,
    ser::{
        Error, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};

use super::limits::JSON_MAX_DEPTH;

/// A value that stands so many levels deep.
pub(super) struct Bounded<'v, T: ?Sized> {
    value: &'v T,
    depth: usize,
}

impl<'v, T: ?Sized> Bounded<'v, T> {
    pub(super) fn new(value: &'v T) -> Self {
        Self { value, depth: 0 }
    }
}

impl<T: Serialize + ?Sized> Serialize for Bounded<'_, T> {
    fn serialize<S: Serializer>(&self, inner: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(At { inner, depth: self.depth })
    }
}

/// A serializer, or a part of one, so many levels deep.
struct At<S> {
    inner: S,
    depth: usize,
}

impl<S> At<S> {
    fn value<'v, T: ?Sized>(&self, value: &'v T) -> Bounded<'v, T> {
        Bounded { value, depth: self.depth }
    }
}

/// The depth after so many levels more. One more than are allowed pass here: a raw value counts as one, and what was
/// written is measured exactly.
fn deeper<E: Error>(depth: usize, levels: usize) -> Result<usize, E> {
    let depth = depth + levels;
    if depth > JSON_MAX_DEPTH + 1 {
        return Err(E::custom(format_args!("it nests more than {JSON_MAX_DEPTH} levels deep")));
    }
    Ok(depth)
}

fn finite<E: Error>(value: f64) -> Result<(), E> {
    if value.is_finite() { Ok(()) } else { Err(E::custom(format_args!("JSON has no number for {value}"))) }
}

/// What holds no other value, as it is.
macro_rules! plain {
    ($($name:ident($($value:ident: $type:ty),*);)*) => {
        $(fn $name(self, $($value: $type),*) -> Result<S::Ok, S::Error> {
            self.inner.$name($($value),*)
        })*
    };
}

/// What holds others: so many levels of JSON.
macro_rules! nested {
    ($($name:ident($($value:ident: $type:ty),*) -> $part:ident, $levels:literal;)*) => {
        $(fn $name(self, $($value: $type),*) -> Result<Self::$part, S::Error> {
            let depth = deeper(self.depth, $levels)?;
            Ok(At { inner: self.inner.$name($($value),*)?, depth })
        })*
    };
}

impl<S: Serializer> Serializer for At<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = At<S::SerializeSeq>;
    type SerializeTuple = At<S::SerializeTuple>;
    type SerializeTupleStruct = At<S::SerializeTupleStruct>;
    type SerializeTupleVariant = At<S::SerializeTupleVariant>;
    type SerializeMap = At<S::SerializeMap>;
    type SerializeStruct = At<S::SerializeStruct>;
    type SerializeStructVariant = At<S::SerializeStructVariant>;

    plain! {
        serialize_bool(v: bool);
        serialize_i8(v: i8);
        serialize_i16(v: i16);
        serialize_i32(v: i32);
        serialize_i64(v: i64);
        serialize_i128(v: i128);
        serialize_u8(v: u8);
        serialize_u16(v: u16);
        serialize_u32(v: u32);
        serialize_u64(v: u64);
        serialize_u128(v: u128);
        serialize_char(v: char);
        serialize_str(v: &str);
        serialize_bytes(v: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    nested! {
        serialize_seq(len: Option<usize>) -> SerializeSeq, 1;
        serialize_tuple(len: usize) -> SerializeTuple, 1;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct, 1;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeTupleVariant, 2;
        serialize_map(len: Option<usize>) -> SerializeMap, 1;
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct, 1;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeStructVariant, 2;
    }

    fn serialize_f32(self, v: f32) -> Result<S::Ok, S::Error> {
        finite(v.into()).and_then(|()| self.inner.serialize_f32(v))
    }

    fn serialize_f64(self, v: f64) -> Result<S::Ok, S::Error> {
        finite(v).and_then(|()| self.inner.serialize_f64(v))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let value = self.value(value);
        self.inner.serialize_some(&value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        let value = self.value(value);
        self.inner.serialize_newtype_struct(name, &value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = Bounded { value, depth: deeper(self.depth, 1)? };
        self.inner.serialize_newtype_variant(name, index, variant, &value)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// The parts of what holds others.
macro_rules! parts {
    ($($part:ident: $($name:ident($($key:ident: $type:ty)?)),*;)*) => {
        $(impl<S: $part> $part for At<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            $(fn $name<T: Serialize + ?Sized>(&mut self, $($key: $type,)? value: &T) -> Result<(), S::Error> {
                let value = self.value(value);
                self.inner.$name($($key,)? &value)
            })*

            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(key: &'static str);
    SerializeStructVariant: serialize_field(key: &'static str);
}
