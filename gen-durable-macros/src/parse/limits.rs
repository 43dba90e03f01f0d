//! `rate_limit(..)`, `concurrency(..)`, `retry(..)`: the same on a machine, a step and a job.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use syn::Path;

use super::options::{Opt, Table, head_and_rest, split};
use crate::{
    diag::Diag,
    model::{Amount, At, Concurrency, FieldRef, Rate, Retry},
};

const RATE: Table = Table {
    of: "rate_limit(..)",
    known: &[("by", "`by(field, ..)`"), ("weight", "`weight = 2` or `weight(field)`")],
    repeated: &[],
};
const CONCURRENCY: Table = Table { of: "concurrency(..)", known: &[("by", "`by(field, ..)`")], repeated: &[] };
const RETRY: Table = Table {
    of: "retry(..)",
    known: &[
        ("attempts", "`attempts = 20`"),
        ("backoff", "`backoff = \"1s\"`"),
        ("cap", "`cap = \"1h\"`"),
        ("crashes", "`crashes = 10`"),
    ],
    repeated: &[],
};

/// `rate_limit(Carrier, by(warehouse), weight = 2)`.
pub fn rate(diag: &mut Diag, opt: &Opt) -> Option<Rate> {
    let (limit, rest) = typed(diag, opt)?;
    let mut rate = Rate { limit, by: vec![], weight: None };
    for opt in split(diag, &RATE, &mut BTreeMap::new(), rest) {
        match opt.word {
            "by" => rate.by = diag.ok(opt.list::<FieldRef>()).unwrap_or_default(),
            _ => rate.weight = diag.ok(amount(&opt)),
        }
    }
    Some(rate)
}

/// `concurrency(OrderLock, by(order))` or `concurrency(none)`.
pub fn concurrency(diag: &mut Diag, opt: &Opt) -> Option<Concurrency> {
    let (key, rest) = typed(diag, opt)?;
    if key.is_ident("none") && rest.is_empty() {
        return Some(Concurrency::None);
    }
    let mut by = vec![];
    for opt in split(diag, &CONCURRENCY, &mut BTreeMap::new(), rest) {
        by = diag.ok(opt.list::<FieldRef>()).unwrap_or_default();
    }
    Some(Concurrency::On { key, by })
}

fn typed(diag: &mut Diag, opt: &Opt) -> Option<(Path, TokenStream)> {
    let tokens = diag.ok(opt.group())?;
    diag.ok(head_and_rest::<Path>(tokens).or_else(|_| opt.misused()))
}

/// `retry(attempts = 20, backoff = "1s", cap = "1h", crashes = 10)`.
pub fn retry(diag: &mut Diag, opt: &Opt) -> Retry {
    let mut retry = Retry::default();
    let Some(tokens) = diag.ok(opt.group()) else { return retry };
    for opt in split(diag, &RETRY, &mut BTreeMap::new(), tokens) {
        match opt.word {
            "attempts" => retry.attempts = diag.ok(opt.positive()).map(|at| at.value),
            "backoff" => retry.backoff = diag.ok(opt.duration()).map(|at| at.value),
            "cap" => retry.cap = diag.ok(opt.duration()).map(|at| at.value),
            _ => retry.crashes = diag.ok(opt.positive()).map(|at| at.value),
        }
    }
    retry
}

/// `weight = 2` or `weight(field)`.
pub fn amount(opt: &Opt) -> syn::Result<At<Amount>> {
    match &opt.value {
        super::Value::Group(_) => {
            let field = opt.one::<FieldRef>()?;
            Ok(At { span: field.ident.span(), value: Amount::Field(field) })
        }
        super::Value::Flag | super::Value::Equals(_) => {
            let at = opt.positive::<u32>()?;
            Ok(At { value: Amount::Constant(at.value), span: at.span })
        }
    }
}
