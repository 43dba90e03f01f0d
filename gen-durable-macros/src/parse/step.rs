//! The options of `#[step(..)]`.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{Path, Token, parse::ParseStream, parse::Parser};

use super::{
    Value,
    limits::{self, amount},
    options::{Opt, Table, split, word_group},
};
use crate::{
    diag::Diag,
    model::{At, Await, AwaitMode, BusinessKey, FieldRef, Schedule, StepOptions, Timeout},
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
        _ => waits(diag, o, opt),
    }
}

fn waits(diag: &mut Diag, o: &mut StepOptions, opt: &Opt) {
    match opt.word {
        // One that does not parse still waits: the handler receives something.
        "await" => {
            let nothing = Await { signals: vec![], mode: AwaitMode::Any, span: opt.name.span() };
            o.awaits = Some(diag.ok(awaits(opt)).unwrap_or(nothing));
        }
        "timeout" => timeout(diag, o, opt),
        "until" => {
            let until = |field| At { value: Timeout::UntilField(field), span: opt.name.span() };
            let parsed = diag.ok(opt.one::<FieldRef>()).map(until);
            set_timeout(diag, o, parsed, opt.name.span());
        }
        "join" => {
            let value = diag.ok(opt.list::<Path>()).unwrap_or_default();
            o.join = Some(At { value, span: opt.name.span() });
        }
        "quorum" => o.quorum = diag.ok(amount(opt)),
        "rest" => {
            let rest = diag.ok(opt.choice(&["cancel", "leave"]));
            o.rest = rest.map(|lit| At { value: lit.value() == "cancel", span: opt.name.span() });
        }
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

fn timeout(diag: &mut Diag, o: &mut StepOptions, opt: &Opt) {
    let span = opt.name.span();
    // A duration that does not parse is still a timeout: the handler's signature is right.
    let unreadable = At { value: Timeout::After(std::time::Duration::MAX), span };
    let parsed = match &opt.value {
        Value::Group(_) => diag.ok(opt.one()).map(|field| At { value: Timeout::AfterField(field), span }),
        Value::Flag | Value::Equals(_) => {
            Some(diag.ok(opt.duration()).map_or(unreadable, |at| At { value: Timeout::After(at.value), span }))
        }
    };
    set_timeout(diag, o, parsed, span);
}

fn set_timeout(diag: &mut Diag, o: &mut StepOptions, parsed: Option<At<Timeout>>, span: Span) {
    if o.timeout.is_some() {
        diag.at_span(span, "`timeout` and `until` both bound the wait: keep one");
        return;
    }
    o.timeout = parsed;
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

/// `await(A, B)`, `await(A, B, biased)`, `await(all(A, B))`, `await(A, count = 3)`.
fn awaits(opt: &Opt) -> syn::Result<Await> {
    let (tokens, span) = (opt.group()?, opt.name.span());
    if let Some(group) = word_group(&tokens, "all") {
        let all = syn::punctuated::Punctuated::<Path, Token![,]>::parse_terminated.parse2(group.stream());
        let signals: Vec<_> = all.or_else(|_| opt.misused())?.into_iter().collect();
        return if signals.is_empty() { opt.misused() } else { Ok(Await { signals, mode: AwaitMode::All, span }) };
    }
    let (signals, mode) = (|input: ParseStream<'_>| await_items(opt, input)).parse2(tokens)?;
    if signals.is_empty() { opt.misused() } else { Ok(Await { signals, mode, span }) }
}

fn await_items(opt: &Opt, input: ParseStream<'_>) -> syn::Result<(Vec<Path>, AwaitMode)> {
    let (mut signals, mut mode) = (vec![], AwaitMode::Any);
    while !input.is_empty() {
        if mode != AwaitMode::Any {
            return opt.misused();
        }
        let path: Path = input.parse().or_else(|_| opt.misused())?;
        if path.is_ident("count") && input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            mode = AwaitMode::Count(count(opt, input)?);
        } else if path.is_ident("biased") && !signals.is_empty() {
            mode = AwaitMode::Biased;
        } else {
            signals.push(path);
        }
        if !input.is_empty() {
            input.parse::<Token![,]>().or_else(|_| opt.misused())?;
        }
    }
    Ok((signals, mode))
}

fn count(opt: &Opt, input: ParseStream<'_>) -> syn::Result<u32> {
    let tree: TokenTree = input.parse()?;
    let lit: syn::LitInt = syn::parse2(tree.into()).or_else(|_| opt.misused())?;
    match lit.base10_parse::<u32>() {
        Ok(0) => Err(syn::Error::new(lit.span(), "`count` is at least 1")),
        Ok(n) => Ok(n),
        Err(error) => Err(error),
    }
}
