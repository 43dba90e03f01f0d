//! The verb `limits`.

use super::{
    args::{LimitArgs, LimitSort, LimitsVerb},
    print,
};
use crate::{
    client::{Client, LimitSnapshot, SetBy},
    model::{LimitTerms, admission::LimitKind},
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Keys that stand in the table; `--json` has more.
const KEYS: usize = 3;

pub(super) async fn run(client: &Client, verb: Option<LimitsVerb>, json: bool) -> Result<(), Fault> {
    match verb {
        None => list(client, json).await,
        Some(LimitsVerb::Set(args)) => {
            let terms = terms(&args);
            client.limit(&args.name, kind(args.kind).or(terms.kind()))?.set(terms).await?;
            say(&args.name, "set", json)
        }
        Some(LimitsVerb::Reset { name, kind: of }) => {
            client.limit(&name, kind(of))?.reset().await?;
            say(&name, "is as its type says", json)
        }
    }
}

fn kind(sort: Option<LimitSort>) -> Option<LimitKind> {
    sort.map(|sort| match sort {
        LimitSort::Rate => LimitKind::Rate,
        LimitSort::Gate => LimitKind::Gate,
    })
}

fn terms(args: &LimitArgs) -> LimitTerms {
    let terms = match (args.slots, args.allowed.zip(args.per)) {
        (Some(slots), _) => LimitTerms::slots(slots),
        (None, Some((allowed, per))) => LimitTerms::rate(allowed, per),
        (None, None) => LimitTerms::default(),
    };
    let terms = args.burst.into_iter().fold(terms, LimitTerms::burst);
    args.shards.into_iter().fold(terms, LimitTerms::shards)
}

fn say(name: &str, what: &str, json: bool) -> Result<(), Fault> {
    match json {
        true => print::json(&serde_json::json!({"limit": name, "did": what})),
        false => print::line(format!("{name} {what}")),
    }
    Ok(())
}

async fn list(client: &Client, json: bool) -> Result<(), Fault> {
    let limits = client.limits().await?;
    if json {
        limits.iter().for_each(print::json);
        return Ok(());
    }
    let rows: Vec<Vec<String>> = limits.iter().map(row).collect();
    print::table(&["limit", "kind", "allows", "shards", "set by", "waiting", "busiest keys"], &rows);
    Ok(())
}

fn row(l: &LimitSnapshot) -> Vec<String> {
    let set_by = match (l.set_by, l.in_code) {
        (SetBy::Operator, _) => "operator",
        (SetBy::Code, true) => "code",
        (SetBy::Code, false) => "code of another program",
    };
    let (name, kind) = (l.name.clone(), l.kind.to_owned());
    vec![name, kind, allows(l), l.shards.to_string(), set_by.to_owned(), l.waiting.to_string(), busiest(l)]
}

fn allows(l: &LimitSnapshot) -> String {
    match (l.slots, l.per_second, l.burst) {
        (Some(slots), ..) => format!("{slots} at once"),
        (None, Some(rate), Some(burst)) => format!("{}, {burst} at once", pace(rate)),
        (None, ..) => String::new(),
    }
}

/// In the shortest unit of time in which it is at least one.
fn pace(per_second: f64) -> String {
    let units = [(1.0, "s"), (60.0, "min"), (3_600.0, "h"), (86_400.0, "d")];
    let (seconds, unit) = units.into_iter().find(|(s, _)| per_second * s >= 1.0).unwrap_or((86_400.0, "d"));
    format!("{}/{unit}", rounded(per_second * seconds))
}

fn rounded(n: f64) -> f64 {
    (n * 100.0).round() / 100.0
}

fn busiest(l: &LimitSnapshot) -> String {
    let of = |k: &crate::client::KeySnapshot| {
        let owed = if k.owed > 0.0 { format!(", owes {}", rounded(k.owed)) } else { String::new() };
        let waiting = if k.waiting > 0 { format!(", {} wait", k.waiting) } else { String::new() };
        format!("{} ({} used{owed}{waiting})", k.key, rounded(k.used))
    };
    l.keys.iter().take(KEYS).map(of).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_said_as_a_person_would() {
        assert_eq!(pace(20.0), "20/s");
        assert_eq!(pace(5.0 / 60.0), "5/min");
        assert_eq!(pace(1.0 / 7_200.0), "12/d");
    }
}
