//! Rows in the binary form of COPY: exact, and an error of the server never quotes a value.

use crate::store::copy::{Kind, Value};

/// 1970 to 2000, where the server's moments begin, in microseconds.
const EPOCH: i64 = 946_684_800_000_000;
/// The numbers of the server's own types.
const TEXT: u32 = 25;
const BIGINT: u32 = 20;

/// The beginning of the data; the end is [`END`].
pub(super) const START: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
pub(super) const END: [u8; 2] = (-1_i16).to_be_bytes();

/// Why a value has no such form.
pub(super) type Unfit = &'static str;

/// Appends a value with its length in front.
pub(super) fn push(out: &mut Vec<u8>, kind: Kind, value: &Value, status_type: u32) -> Result<(), Unfit> {
    if *value == Value::Null {
        out.extend((-1_i32).to_be_bytes());
        return Ok(());
    }
    sized(out, |out| match (kind, value) {
        (Kind::Big, Value::Int(n)) => append(out, &n.to_be_bytes()),
        (Kind::Int, Value::Int(n)) => append(out, &narrow::<i32>(*n)?.to_be_bytes()),
        (Kind::Small, Value::Int(n)) => append(out, &narrow::<i16>(*n)?.to_be_bytes()),
        (Kind::Flag, Value::Int(n)) => append(out, &[u8::from(*n != 0)]),
        (Kind::Moment, Value::Int(us)) => append(out, &moment(*us)?.to_be_bytes()),
        (Kind::Real, Value::Real(n)) => append(out, &n.to_be_bytes()),
        (Kind::Text | Kind::Status, Value::Text(text)) => append(out, text.as_bytes()),
        (Kind::Json, Value::Text(text)) => {
            // The version of the form.
            out.push(1);
            append(out, text.as_bytes())
        }
        (Kind::Texts, Value::Text(text)) => texts(out, TEXT, text),
        (Kind::Statuses, Value::Text(text)) => texts(out, status_type, text),
        (Kind::Bigs, Value::Text(text)) => bigs(out, text),
        _ => Err("is of another type"),
    })
}

fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Unfit> {
    out.extend_from_slice(bytes);
    Ok(())
}

/// What `fill` appends, with its length in front.
fn sized(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Unfit>) -> Result<(), Unfit> {
    let start = out.len();
    out.extend([0; 4]);
    fill(out)?;
    let length = i32::try_from(out.len() - start - 4).map_err(|_| "is above 2 GiB")?;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T, Unfit> {
    T::try_from(number).map_err(|_| "is out of range")
}

/// The ends of the range are the infinities on both sides.
fn moment(us: i64) -> Result<i64, Unfit> {
    match us {
        i64::MAX | i64::MIN => Ok(us),
        us => us.checked_sub(EPOCH).filter(|us| *us != i64::MIN).ok_or("is out of range"),
    }
}

fn texts(out: &mut Vec<u8>, of: u32, json: &str) -> Result<(), Unfit> {
    let items: Vec<String> = serde_json::from_str(json).map_err(|_| "is no list of texts")?;
    array(out, of, items.len())?;
    items.iter().try_for_each(|item| sized(out, |out| append(out, item.as_bytes())))
}

fn bigs(out: &mut Vec<u8>, json: &str) -> Result<(), Unfit> {
    let items: Vec<i64> = serde_json::from_str(json).map_err(|_| "is no list of whole numbers")?;
    array(out, BIGINT, items.len())?;
    items.iter().try_for_each(|item| sized(out, |out| append(out, &item.to_be_bytes())))
}

/// The head of an array: dimensions, no NULLs, the type, then length and first index of the one dimension.
fn array(out: &mut Vec<u8>, of: u32, items: usize) -> Result<(), Unfit> {
    let items = i32::try_from(items).map_err(|_| "has too many items")?;
    out.extend(i32::from(items > 0).to_be_bytes());
    out.extend(0_i32.to_be_bytes());
    out.extend(of.to_be_bytes());
    if items > 0 {
        out.extend(items.to_be_bytes());
        out.extend(1_i32.to_be_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: Kind, value: &Value) -> Result<Vec<u8>, Unfit> {
        let mut out = Vec::new();
        push(&mut out, kind, value, 99).map(|()| out)
    }

    #[test]
    fn moments_are_exact_and_end_in_infinity() {
        for (us, stored) in [(0, -EPOCH), (EPOCH + 1, 1), (i64::MAX, i64::MAX), (i64::MIN, i64::MIN)] {
            assert_eq!(bytes(Kind::Moment, &Value::Int(us)).expect("it fits")[4..], stored.to_be_bytes(), "{us}");
        }
        assert!(bytes(Kind::Moment, &Value::Int(i64::MIN + 1)).is_err());
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let text = |t: &str| Value::Text(t.to_owned());
        assert_eq!(bytes(Kind::Small, &Value::Int(32_768)), Err("is out of range"));
        assert_eq!(bytes(Kind::Int, &Value::Int(1 << 31)), Err("is out of range"));
        assert_eq!(bytes(Kind::Texts, &text(r#"{"a":1}"#)), Err("is no list of texts"));
        assert_eq!(bytes(Kind::Bigs, &text(r#"["1"]"#)), Err("is no list of whole numbers"));
        assert_eq!(bytes(Kind::Real, &text("1")), Err("is of another type"));
        assert_eq!(bytes(Kind::Text, &Value::Null), Ok(vec![255; 4]));
    }

    #[test]
    fn an_array_has_a_head() {
        let two = bytes(Kind::Texts, &Value::Text(r#"["a","bc"]"#.into())).expect("a list");
        let head = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 2, 0, 0, 0, 1];
        assert_eq!(two[4..24], head);
        assert_eq!(two[24..], [0, 0, 0, 1, b'a', 0, 0, 0, 2, b'b', b'c']);
        let none = bytes(Kind::Statuses, &Value::Text("[]".into())).expect("a list");
        assert_eq!(none[4..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99]);
    }
}
