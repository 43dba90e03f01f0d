//! The options of `#[durable_fsm(..)]`.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use syn::Path;

use super::{
    limits,
    options::{Opt, Table, Value, head_and_rest, split},
};
use crate::{
    diag::Diag,
    model::{At, MachineOptions},
};

const TABLE: Table = Table {
    of: "#[durable_fsm]",
    known: &[
        ("name", "`name = \"..\"`"),
        ("version", "`version = 1`"),
        ("alias", "`alias = \"..\"` or `alias(\"..\", \"..\")`"),
        ("queue", "`queue = \"..\"`"),
        ("priority", "`priority = 0`"),
        ("output", "`output(Type)`"),
        ("carry", "`carry(Type)`"),
        ("handler", "`handler(Type)`"),
        ("concurrency", "`concurrency(KeyType, by(field))`"),
        ("retry", "`retry(attempts = 20, backoff = \"1s\", cap = \"1h\", crashes = 10)`"),
        ("run_timeout", "`run_timeout = \"10m\"`"),
        ("catch", "`catch(Step)`"),
        ("on_cancel", "`on_cancel(Step)`"),
        ("deadline", "`deadline = \"30d\"`"),
        ("on_deadline", "`on_deadline(Step)`"),
        ("on", "`on(Signal, Step)`"),
        ("from", "`from(v1::Machine)`"),
        ("steps", "`steps(derive(Clone, ..))`"),
        ("endless", "`endless` or `endless(dedup = \"7d\")`"),
        ("store", "`store = \"postgres\"` or `store = \"sqlite\"`"),
        ("history", "`history = \"off\"`"),
        ("retention", "`retention(done = \"7d\", failed = \"30d\")`"),
        ("crate", "`crate(path)`"),
    ],
    repeated: &["on"],
};
const RETENTION: Table = Table {
    of: "retention(..)",
    known: &[("done", "`done = \"7d\"`"), ("failed", "`failed = \"30d\"`")],
    repeated: &[],
};
const ENDLESS: Table = Table { of: "endless(..)", known: &[("dedup", "`dedup = \"7d\"`")], repeated: &[] };
const STEPS: Table = Table { of: "steps(..)", known: &[("derive", "`derive(Clone, ..)`")], repeated: &[] };

/// Reads them all; each one that is wrong is an error of its own.
pub fn options(diag: &mut Diag, tokens: TokenStream) -> MachineOptions {
    let mut options = MachineOptions::default();
    for opt in split(diag, &TABLE, &mut BTreeMap::new(), tokens) {
        stored(diag, &mut options, &opt);
    }
    options
}

fn stored(diag: &mut Diag, o: &mut MachineOptions, opt: &Opt) {
    match opt.word {
        "name" => o.name = diag.ok(opt.stored_name()),
        "version" => o.version = diag.ok(opt.positive()),
        "alias" => o.aliases = diag.ok(opt.stored_names()).unwrap_or_default(),
        "queue" => o.queue = diag.ok(opt.stored_name()),
        "priority" => o.priority = diag.ok(opt.integer()),
        "store" => o.store = diag.ok(opt.choice(&["postgres", "sqlite"])),
        "history" => o.history_off = diag.ok(opt.choice(&["off"])).is_some(),
        "retention" => o.retention = retention(diag, opt),
        "output" => o.output = diag.ok(opt.one()),
        // One that does not parse is a carry still: the handlers receive it.
        "carry" => o.carry = Some(diag.ok(opt.one()).unwrap_or_else(|| syn::parse_quote!(()))),
        "handler" => o.handler = diag.ok(opt.one()),
        "from" => o.from = diag.ok(opt.one()),
        "crate" => o.facade = diag.ok(opt.one()),
        "steps" => o.derives = derives(diag, opt),
        _ => rules(diag, o, opt),
    }
}

fn rules(diag: &mut Diag, o: &mut MachineOptions, opt: &Opt) {
    match opt.word {
        "concurrency" => o.concurrency = limits::concurrency(diag, opt),
        "retry" => o.retry = limits::retry(diag, opt),
        "run_timeout" => o.run_timeout = diag.ok(opt.duration()),
        "catch" => o.catch = diag.ok(opt.one()),
        "on_cancel" => o.on_cancel = diag.ok(opt.one()),
        "deadline" => o.deadline = diag.ok(opt.duration()),
        "on_deadline" => o.on_deadline = diag.ok(opt.one()),
        "on" => o.on.extend(diag.ok(on(opt))),
        _ => o.endless = endless(diag, opt),
    }
}

/// `on(Signal, Step)`.
fn on(opt: &Opt) -> syn::Result<(Path, Ident)> {
    let (signal, rest) = head_and_rest::<Path>(opt.group()?).or_else(|_| opt.misused())?;
    let step = syn::parse2::<Ident>(rest).or_else(|_| opt.misused())?;
    Ok((signal, step))
}

fn endless(diag: &mut Diag, opt: &Opt) -> Option<At<Option<std::time::Duration>>> {
    let mut value = None;
    match &opt.value {
        Value::Flag => {}
        Value::Group(_) => {
            let tokens = diag.ok(opt.group())?;
            for opt in split(diag, &ENDLESS, &mut BTreeMap::new(), tokens) {
                value = diag.ok(opt.duration()).map(|at| at.value);
            }
        }
        Value::Equals(_) => diag.ok(opt.misused())?,
    }
    Some(At { value, span: opt.name.span() })
}

/// `retention(done = "7d", failed = "30d")`.
pub fn retention(diag: &mut Diag, opt: &Opt) -> (Option<std::time::Duration>, Option<std::time::Duration>) {
    let mut kept = (None, None);
    let Some(tokens) = diag.ok(opt.group()) else { return kept };
    for opt in split(diag, &RETENTION, &mut BTreeMap::new(), tokens) {
        let value = diag.ok(opt.duration()).map(|at| at.value);
        match opt.word {
            "done" => kept.0 = value,
            _ => kept.1 = value,
        }
    }
    kept
}

fn derives(diag: &mut Diag, opt: &Opt) -> Vec<Path> {
    let Some(tokens) = diag.ok(opt.group()) else { return vec![] };
    let options = split(diag, &STEPS, &mut BTreeMap::new(), tokens);
    options.iter().filter_map(|opt| diag.ok(opt.list::<Path>())).flatten().collect()
}
