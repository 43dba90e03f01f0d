use serde::{Serialize, de::DeserializeOwned};

use super::{Invalid, bounded::Bounded, limits};

/// JSON text as it is stored: encoded once, decoded once, never through a tree.
///
/// A value of this type is known to be storable on every backend: within the size and depth limits, without NUL. Every finite
/// number comes back as it was, but for the sign of a zero.
///
/// ```
/// # use gen_durable_runtime::model::Json;
/// let json = Json::encode("state", &[1, 2])?;
/// assert_eq!(json.as_str(), "[1,2]");
/// assert_eq!(json.decode::<Vec<u8>>("state")?, [1, 2]);
/// assert!(Json::encode("state", "a\0b").is_err());
/// # Ok::<(), gen_durable_runtime::model::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// The empty object.
    pub fn object() -> Self {
        Self("{}".into())
    }

    /// Encodes `value`; `field` names it in the error.
    ///
    /// # Errors
    /// When serde refuses the value, or it has a number that is not finite, for which JSON has none, or the text has a NUL, is
    /// over 64 MiB or nests deeper than 127 levels.
    pub fn encode<T: Serialize + ?Sized>(field: &str, value: &T) -> Result<Self, Invalid> {
        let text = serde_json::to_string(&Bounded::new(value));
        Self::check(field, text.map_err(|e| Invalid::new(field, format!("cannot be stored: {e}")))?)
    }

    /// Takes JSON text from outside, checked as [`Json::encode`] does.
    ///
    /// # Errors
    /// When the text is no JSON, or not storable.
    pub fn parse(field: &str, text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        serde_json::from_str::<serde::de::IgnoredAny>(&text)
            .map_err(|e| Invalid::new(field, format!("is not JSON: {e}")))?;
        Self::check(field, text)
    }

    /// Wraps text that a store returned: it was checked when it was written.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Decodes into `T`; `field` names it in the error, which does not quote the text.
    ///
    /// # Errors
    /// When the text does not fit `T`.
    pub fn decode<T: DeserializeOwned>(&self, field: &str) -> Result<T, Invalid> {
        serde_json::from_str(&self.0).map_err(|e| Invalid::new(field, format!("does not decode: {}", shape_of(&e))))
    }

    fn check(field: &str, text: String) -> Result<Self, Invalid> {
        if text.len() > limits::JSON_MAX_BYTES {
            let (got, max) = (text.len(), limits::JSON_MAX_BYTES);
            return Err(Invalid::new(field, format!("has {got} bytes of JSON: at most {max} are allowed")));
        }
        match scan(text.as_bytes()) {
            Scan { nul: true, .. } => Err(Invalid::new(field, "contains a NUL character")),
            Scan { depth, .. } if depth > limits::JSON_MAX_DEPTH => {
                let max = limits::JSON_MAX_DEPTH;
                Err(Invalid::new(field, format!("nests {depth} levels deep: at most {max} are allowed")))
            }
            Scan { .. } => Ok(Self(text)),
        }
    }
}

/// A decode error without the user's data: serde quotes values ("invalid type: string \"secret\"").
fn shape_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.split_once(": ") {
        Some(("invalid type" | "invalid value", rest)) => {
            let expected = rest.rsplit_once(", expected ").map_or("another type", |(_, e)| e);
            format!("expected {}{place}", expected.trim_end_matches(&place))
        }
        _ => text,
    }
}

struct Scan {
    depth: usize,
    nul: bool,
}

/// One pass over valid JSON text: the deepest nesting, and whether a string holds U+0000.
fn scan(text: &[u8]) -> Scan {
    let (mut depth, mut deepest, mut nul, mut in_string, mut at) = (0usize, 0, false, false, 0);
    while let Some(&byte) = text.get(at) {
        match (in_string, byte) {
            (true, b'\\') => {
                nul |= text[at + 1..].starts_with(b"u0000");
                at += 1;
            }
            (_, b'"') => in_string = !in_string,
            (false, b'{' | b'[') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b'}' | b']') => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Scan { depth: deepest, nul }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_is_found_wherever_it_stands_and_nowhere_else() {
        assert!(Json::encode("state", &[("k\0", 1)]).is_err());
        assert!(Json::parse("payload", r#"{"a":["\u0000"]}"#).is_err());
        assert!(Json::parse("payload", r#"{"a":"\\u0000"}"#).is_ok());
    }

    #[test]
    fn what_the_reader_cannot_read_is_refused_at_write() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(Json::check("state", nested(limits::JSON_MAX_DEPTH)).unwrap().decode::<serde_json::Value>("s").is_ok());
        assert!(Json::check("state", nested(limits::JSON_MAX_DEPTH + 1)).is_err());
        assert!(Json::check("state", format!("[\"{}\"]", "[".repeat(500))).is_ok());
    }

    #[derive(serde::Serialize)]
    enum Any {
        Unit,
        New(Box<Any>),
        Tuple(u8, Option<Box<Any>>),
        Struct { inner: Vec<Any> },
    }

    #[test]
    fn what_is_written_is_what_serde_json_writes() {
        let inner = vec![Any::Unit, Any::New(Box::new(Any::Tuple(1, None)))];
        let any = Any::Tuple(2, Some(Box::new(Any::Struct { inner })));
        let raw = serde_json::value::RawValue::from_string("[1.50, {}]".into()).expect("JSON");
        let map = std::collections::BTreeMap::from([(7_u8, 1.5_f32)]);
        let value = (any, raw, map, i128::MIN, 'x', std::net::Ipv4Addr::LOCALHOST, (), -0.0_f64);
        assert_eq!(Json::encode("state", &value).unwrap().as_str(), serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused_wherever_it_stands() {
        let numbers = [(f64::NAN, f32::NAN), (f64::INFINITY, f32::INFINITY), (f64::NEG_INFINITY, f32::NEG_INFINITY)];
        for (number, rough) in numbers {
            let refused = [
                Json::encode("state", &number),
                Json::encode("state", &rough),
                Json::encode("state", &[Some((1, number))]),
                Json::encode("state", &std::collections::BTreeMap::from([("k", vec![number])])),
            ];
            for refused in refused {
                assert_eq!(
                    refused.unwrap_err().to_string(),
                    format!("state cannot be stored: JSON has no number for {number}")
                );
            }
        }
    }

    #[test]
    fn what_nests_too_deep_is_refused_before_the_stack_ends() {
        /// A level of an array for each one of its own.
        struct Deep(usize);
        impl Serialize for Deep {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                if self.0 == 0 { s.serialize_unit() } else { s.collect_seq([Deep(self.0 - 1)]) }
            }
        }
        let max = limits::JSON_MAX_DEPTH;
        Json::encode("state", &Deep(max)).unwrap().decode::<serde_json::Value>("state").unwrap();
        for depth in [max + 1, max + 2, 20_000, usize::MAX] {
            let text = Json::encode("state", &Deep(depth)).unwrap_err().to_string();
            assert!(text.contains("levels deep"), "{text}");
        }
    }

    #[test]
    fn a_decode_error_does_not_quote_the_data() {
        let error = Json::stored(r#"{"pin":"S3CR3T"}"#).decode::<std::collections::BTreeMap<String, u8>>("state");
        let text = error.unwrap_err().to_string();
        assert!(!text.contains("S3CR3T"), "{text}");
        assert!(text.contains("expected u8"), "{text}");
    }
}
