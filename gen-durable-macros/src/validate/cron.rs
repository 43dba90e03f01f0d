//! Five-field cron expressions, checked for shape and range.

const FIELDS: [(&str, u32, u32); 5] =
    [("minute", 0, 59), ("hour", 0, 23), ("day of month", 1, 31), ("month", 1, 12), ("day of week", 0, 7)];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Says what is wrong.
pub fn check(text: &str) -> Result<(), String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 5 {
        let form = "minute, hour, day of month, month, day of week: \"0 3 * * *\"";
        return Err(format!("a schedule has five fields, {form}; this one has {}", fields.len()));
    }
    for (field, (name, low, high)) in fields.iter().zip(FIELDS) {
        if !field.split(',').all(|item| item_is_valid(item, name, low, high)) {
            return Err(format!("the field `{field}` is no {name}: {low} to {high}, `*`, `a-b`, `*/n` or a list"));
        }
    }
    Ok(())
}

fn item_is_valid(item: &str, name: &str, low: u32, high: u32) -> bool {
    let (range, step) = item.split_once('/').map_or((item, None), |(r, s)| (r, Some(s)));
    let step_is_valid = step.is_none_or(|s| s.parse::<u32>().is_ok_and(|n| n > 0));
    let value = |text: &str| number(text, name).filter(|n| (low..=high).contains(n));
    let range_is_valid = match range.split_once('-') {
        Some((from, to)) => matches!((value(from), value(to)), (Some(a), Some(b)) if a <= b),
        None => range == "*" || value(range).is_some(),
    };
    step_is_valid && range_is_valid
}

fn number(text: &str, name: &str) -> Option<u32> {
    let word = text.to_lowercase();
    let named = |words: &[&str], first: u32| {
        let at = words.iter().position(|w| *w == word)?;
        Some(first + u32::try_from(at).ok()?)
    };
    match name {
        "month" => named(&MONTHS, 1),
        "day of week" => named(&DAYS, 0),
        _ => None,
    }
    .or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn five_fields_in_range() {
        for right in ["0 3 * * *", "*/5 0-6 1,15 jan mon-fri", "59 23 31 12 7"] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for wrong in ["", "* * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "* * * * * *", "x * * * *"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
