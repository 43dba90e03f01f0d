//! The Postgres spelling of the tests' SQL, as SQLite's. It knows what the tests use and nothing else.

/// Microseconds of the epoch.
const NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// Translates casts, moments, intervals, arrays, `= ANY`, `extract(epoch ..)`, `generate_series`, empty select lists
/// and parameters.
pub fn to_sqlite(sql: &str) -> String {
    let tokens = tokens(sql);
    let mut out = String::with_capacity(sql.len());
    let mut rest = tokens.as_slice();
    while let Some(token) = rest.first() {
        match phrase(rest) {
            Some((text, used)) => {
                out.push_str(&text);
                rest = &rest[used..];
            }
            None => {
                out.push_str(token);
                rest = &rest[1..];
            }
        }
    }
    out
}

/// The translation of what stands here, and how many tokens it takes.
fn phrase(at: &[&str]) -> Option<(String, usize)> {
    let [token, after @ ..] = at else { return None };
    let lower = token.to_ascii_lowercase();
    let text = match lower.as_str() {
        "now" | "clock_timestamp" if after.starts_with(&["(", ")"]) => return Some((NOW.into(), 3)),
        "interval" => return Some((microseconds(after.get(1)?), 3)),
        "select" if after.get(1).is_some_and(|next| next.eq_ignore_ascii_case("from")) => "SELECT 1".into(),
        "=" if after.get(1) == Some(&"ANY") => {
            let (list, used) = bracketed(&at[4..])?;
            return Some((format!("IN (SELECT value FROM json_each({list}))"), 4 + used));
        }
        "extract" => {
            let (inner, used) = bracketed(&at[1..])?;
            let span = inner.strip_prefix("epoch FROM ")?;
            return Some((format!("(({span}) / 1000000.0)"), 1 + used));
        }
        "generate_series" => return series(at),
        "'infinity'" => i64::MAX.to_string(),
        _ if lower.starts_with("::") => String::new(),
        _ if lower.starts_with("'{") => array(token)?,
        _ if lower.starts_with('$') => format!("?{}", &token[1..]),
        _ => return None,
    };
    Some((text, 1))
}

/// What the brackets here hold, translated, and how many tokens they take.
fn bracketed(at: &[&str]) -> Option<(String, usize)> {
    let mut depth = 0_usize;
    for (n, token) in at.iter().enumerate() {
        match *token {
            "(" => depth += 1,
            ")" if depth == 1 => return Some((to_sqlite(&at[1..n].concat()), n + 1)),
            ")" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `generate_series(1, 60) n` is a table `n` with a column `n`.
fn series(at: &[&str]) -> Option<(String, usize)> {
    let (range, used) = bracketed(&at[1..])?;
    let (from, to) = range.split_once(", ")?;
    // Without a name nothing reads its column.
    let name = at.get(used + 2).filter(|name| name.len() == 1 && name.chars().all(char::is_alphabetic));
    let used = 1 + used + name.map_or(0, |_| 2);
    let name = name.unwrap_or(&"n");
    let rows = format!("SELECT {from} UNION ALL SELECT {name} + 1 FROM {name} WHERE {name} < {to}");
    Some((format!("(WITH RECURSIVE {name}({name}) AS ({rows}) SELECT {name} FROM {name}) AS {name}"), used))
}

/// `'1 min'`.
fn microseconds(literal: &str) -> String {
    let (number, unit) = literal.trim_matches('\'').split_once(' ').expect("a number and a unit");
    let number: i64 = number.parse().expect("a number");
    let unit = match unit {
        "ms" => 1_000,
        "s" => 1_000_000,
        "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        other => panic!("no unit of the tests: {other}"),
    };
    (number * unit).to_string()
}

/// `'{a,b}'` is a list; a JSON object has quotes or nothing in it.
fn array(literal: &str) -> Option<String> {
    let items = literal.strip_prefix("'{")?.strip_suffix("}'")?;
    let is_list = !items.is_empty() && items.chars().all(|c| c.is_ascii_alphanumeric() || "_,".contains(c));
    is_list.then(|| format!("'[\"{}\"]'", items.replace(',', "\",\"")))
}

/// Words with what clings to them (`::text`, `$1`), text literals, runs of white space, single characters.
fn tokens(sql: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match first {
            '\'' => 1 + literal(&rest[1..]),
            ':' if rest.starts_with("::") => {
                let word = rest[2..].find(|c| !is_word(c)).map_or(rest.len(), |n| n + 2);
                word + if rest[word..].starts_with("[]") { 2 } else { 0 }
            }
            '$' => rest[1..].find(|c| !is_word(c)).map_or(rest.len(), |n| n + 1),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// Bytes up to and with the closing quote; two quotes are one that is meant.
fn literal(text: &str) -> usize {
    let mut quotes = text.match_indices('\'').map(|(at, _)| at).peekable();
    while let Some(at) = quotes.next() {
        if quotes.next_if_eq(&(at + 1)).is_none() {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(postgres: &str, sqlite: &str) {
        assert_eq!(to_sqlite(postgres), sqlite);
    }

    #[test]
    fn casts_go_and_text_stays() {
        becomes("SELECT status::text || ' ' || sum(n)::bigint", "SELECT status || ' ' || sum(n)");
        becomes("SELECT $1::bigint[], 'a::text', 'it''s :: $1'", "SELECT ?1, 'a::text', 'it''s :: $1'");
    }

    #[test]
    fn moments_are_microseconds() {
        becomes("now() - interval '1 min'", &format!("{NOW} - 60000000"));
        becomes("clock_timestamp() + interval '30 ms'", &format!("{NOW} + 30000"));
        becomes("eligible_at = 'infinity'", "eligible_at = 9223372036854775807");
        becomes("max(extract(epoch FROM e.at - now()))::float8", &format!("max(((e.at - {NOW}) / 1000000.0))"));
    }

    #[test]
    fn arrays_are_json() {
        becomes("'{runnable}', '{go,halt}'", r#"'["runnable"]', '["go","halt"]'"#);
        becomes(r#"'{}', '{"n": 1}'"#, r#"'{}', '{"n": 1}'"#);
        becomes("name = ANY (g.awaits) AND x", "name IN (SELECT value FROM json_each(g.awaits)) AND x");
        becomes("id = ANY ($1)", "id IN (SELECT value FROM json_each(?1))");
    }

    #[test]
    fn rows_out_of_nothing() {
        becomes("EXISTS (SELECT FROM signals)", "EXISTS (SELECT 1 FROM signals)");
        becomes(
            "FROM generate_series(1, 9) i WHERE i > 2",
            "FROM (WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 9) SELECT i FROM i) AS i \
             WHERE i > 2",
        );
    }
}
