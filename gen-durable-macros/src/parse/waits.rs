//! `await`, `timeout`, `until`, `join`: what a step waits for.

use proc_macro2::{Span, TokenTree};
use syn::{Path, Token, parse::ParseStream, parse::Parser};

use super::{
    Value,
    limits::amount,
    options::{Opt, word_group},
};
use crate::{
    diag::Diag,
    model::{At, Await, AwaitMode, FieldRef, StepOptions, Timeout},
};

/// Reads such an option; `false` when it is none.
pub fn waits(diag: &mut Diag, o: &mut StepOptions, opt: &Opt) -> bool {
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
        _ => return false,
    }
    true
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
