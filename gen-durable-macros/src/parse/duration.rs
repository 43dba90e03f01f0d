//! `"90s"`, `"1h30m"`: whole numbers with units ms s m h d w.

use std::time::Duration;

use syn::LitStr;

const MAX: Duration = Duration::from_secs(100 * 366 * 86_400);
const FORM: &str = "a duration is written like \"500ms\", \"90s\", \"1h30m\" or \"7d\" (units: ms s m h d w)";

/// Reads a duration: above zero, at most 100 years.
pub fn duration(lit: &LitStr) -> syn::Result<Duration> {
    let fail = |text: &str| Err(syn::Error::new(lit.span(), text));
    match read(&lit.value()) {
        None => fail(FORM),
        Some(d) if d.is_zero() => fail("a duration is above zero"),
        Some(d) if d > MAX => fail("a duration is at most 100 years"),
        Some(d) => Ok(d),
    }
}

fn read(text: &str) -> Option<Duration> {
    let (mut rest, mut sum) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let millis = number.parse::<u64>().ok()?.checked_mul(unit_millis(unit)?)?;
        sum = sum.checked_add(Duration::from_millis(millis))?;
        rest = tail;
    }
    (!text.is_empty()).then_some(sum)
}

fn unit_millis(unit: &str) -> Option<u64> {
    Some(match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::read;
    use std::time::Duration;

    #[test]
    fn whole_numbers_with_units() {
        assert_eq!(read("1h30m"), Some(Duration::from_secs(5_400)));
        assert_eq!(read("500ms"), Some(Duration::from_millis(500)));
        for wrong in ["", "15", "15 minutes", "1.5h", "h", "-1s", "99999999999999999999s"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
