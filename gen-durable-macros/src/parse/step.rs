//! The options of `#[step(..)]`.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};

use super::{
    limits,
    options::{Opt, Table, split},
    waits::waits,
};
use crate::{
    diag::Diag,
    model::{At, BusinessKey, FieldRef, Schedule, StepOptions},
};

/// What a step knows. A job knows a part of it.
pub const TABLE: Table = Table {
    of: "#[step]",
    known: &[
        ("start", "alone: `start`"),
        ("key", "`key(field, ..)` or `key(field, kept)`"),
        ("next", "`next(Step, ..)`"),
        ("done", "alone: `done`"),
        ("fail", "alone: `fail`"),
        ("await", "`await(Signal, ..)`, `await(all(A, B))` or `await(Signal, count = 3)`"),
        ("timeout", "`timeout = \"15m\"` or `timeout(field)`"),
        ("until", "`until(field)`"),
        ("join", "`join(Machine, ..)`"),
        ("quorum", "`quorum = 2` or `quorum(field)`"),
        ("rest", "`rest = \"cancel\"` or `rest = \"leave\"`"),
        ("spawn", "`spawn(Machine, ..)`"),
        ("rate_limit", "`rate_limit(LimitType, by(field), weight = 2)`"),
        ("concurrency", "`concurrency(KeyType, by(field))` or `concurrency(none)`"),
        ("retry", "`retry(attempts = 20, backoff = \"1s\", cap = \"1h\", crashes = 10)`"),
        ("run_timeout", "`run_timeout = \"10m\"`"),
        ("catch", "`catch(Step)`"),
        ("every", "`every = \"1h\"`"),
        ("cron", "`cron = \"0 3 * * *\"`"),
        ("tz", "`tz = \"Europe/Berlin\"`"),
        ("missed", "`missed = \"skip\"`"),
        ("name", "`name = \"..\"`"),
        ("alias", "`alias = \"..\"` or `alias(\"..\", \"..\")`"),
        ("queue", "`queue = \"..\"`"),
        ("priority", "`priority = 0`"),
        ("shield", "alone: `shield`"),
    ],
    repeated: &[],
};

/// Reads one attribute; several on a variant add up.
pub fn options(diag: &mut Diag, o: &mut StepOptions, seen: &mut BTreeMap<String, Span>, tokens: TokenStream) {
    for opt in split(diag, &TABLE, seen, tokens) {
        option(diag, o, &opt);
    }
}

/// One option of a step.
pub fn option(diag: &mut Diag, o: &mut StepOptions, opt: &Opt) {
    match opt.word {
        "start" => o.start = diag.ok(opt.flag()),
        "done" => o.done = diag.ok(opt.flag()),
        "fail" => o.fail = diag.ok(opt.flag()),
        "shield" => o.shield = diag.ok(opt.flag()).is_some(),
        "key" => o.key = diag.ok(key(opt)),
        "next" => o.next = diag.ok(opt.list()).unwrap_or_default(),
        "catch" => o.catch = diag.ok(opt.one()),
        "spawn" => o.spawn = diag.ok(opt.list()).unwrap_or_default(),
        "name" => o.name = diag.ok(opt.stored_name()),
        "alias" => o.aliases = diag.ok(opt.stored_names()).unwrap_or_default(),
        "queue" => o.queue = diag.ok(opt.stored_name()),
        "priority" => o.priority = diag.ok(opt.integer()),
        "rate_limit" => o.rate_limit = limits::rate(diag, opt),
        "concurrency" => o.concurrency = limits::concurrency(diag, opt),
        "retry" => o.retry = limits::retry(diag, opt),
        "run_timeout" => o.run_timeout = diag.ok(opt.duration()),
        _ if waits(diag, o, opt) => {}
        _ => schedule(diag, o, opt),
    }
}

fn schedule(diag: &mut Diag, o: &mut StepOptions, opt: &Opt) {
    match opt.word {
        "every" | "cron" if o.schedule.is_some() => {
            diag.at(&opt.name, "`every` and `cron` are two schedules: keep one");
        }
        "every" => {
            let every = |at: At<_>| At { value: Schedule::Every(at.value), span: opt.name.span() };
            o.schedule = diag.ok(opt.duration()).map(every);
        }
        "cron" => {
            let cron = |lit| At { value: Schedule::Cron(lit), span: opt.name.span() };
            o.schedule = diag.ok(opt.string()).map(cron);
        }
        "tz" => o.tz = diag.ok(opt.string()),
        _ => o.missed = diag.ok(opt.choice(&["skip"])),
    }
}

/// `key(order)`, `key(tenant, order, kept)`.
fn key(opt: &Opt) -> syn::Result<BusinessKey> {
    let mut fields = opt.list::<FieldRef>()?;
    let is_kept = |f: &FieldRef| !f.carry && f.ident == "kept";
    let kept = fields.last().is_some_and(is_kept);
    if kept {
        fields.pop();
    }
    if fields.is_empty() { opt.misused() } else { Ok(BusinessKey { fields, kept, span: opt.name.span() }) }
}
