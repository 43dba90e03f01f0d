//! `#[durable_job]`: an async function to a one-step machine.

use std::collections::BTreeMap;

use heck::ToUpperCamelCase;
use proc_macro2::{Ident, TokenStream};
use syn::{Field, FnArg, ItemFn, Pat, ReturnType, Type, Visibility, parse_quote};

use super::{
    limits, machine,
    options::{Table, split},
    step as step_options,
};
use crate::{
    attrs,
    diag::Diag,
    krate::Facade,
    model::{self, Data, Job, Machine, MachineOptions, Step, StepOptions},
    span::text,
};

const TABLE: Table = Table {
    of: "#[durable_job]",
    known: &[
        ("name", "`name = \"..\"`"),
        ("alias", "`alias = \"..\"` or `alias(\"..\", \"..\")`"),
        ("queue", "`queue = \"..\"`"),
        ("priority", "`priority = 0`"),
        ("key", "`key(argument, ..)` or `key(argument, kept)`"),
        ("retry", "`retry(attempts = 20, backoff = \"1s\", cap = \"1h\", crashes = 10)`"),
        ("run_timeout", "`run_timeout = \"10m\"`"),
        ("rate_limit", "`rate_limit(LimitType, by(argument), weight = 2)`"),
        ("concurrency", "`concurrency(KeyType, by(argument))`"),
        ("spawn", "`spawn(Machine, ..)`"),
        ("every", "`every = \"1h\"`"),
        ("cron", "`cron = \"0 3 * * *\"`"),
        ("tz", "`tz = \"Europe/Berlin\"`"),
        ("missed", "`missed = \"skip\"`"),
        ("retention", "`retention(done = \"7d\", failed = \"30d\")`"),
        ("history", "`history = \"off\"`"),
        ("crate", "`crate(path)`"),
    ],
    repeated: &[],
};
const SHAPE: &str =
    "a job is `async fn name(handler: &Handler, argument: Owned, .., [cx: &StepContext]) -> Result<T, E>`";

/// Parses `#[durable_job(args)] function`; `None` when the function cannot be a job.
pub fn job(diag: &mut Diag, args: TokenStream, function: ItemFn) -> Option<Machine> {
    let (mut options, mut step) = (MachineOptions::default(), StepOptions::default());
    for opt in split(diag, &TABLE, &mut BTreeMap::new(), args) {
        match opt.word {
            "name" => options.name = diag.ok(opt.stored_name()),
            "alias" => options.aliases = diag.ok(opt.stored_names()).unwrap_or_default(),
            "queue" => options.queue = diag.ok(opt.stored_name()),
            "priority" => options.priority = diag.ok(opt.integer()),
            "retention" => options.retention = machine::retention(diag, &opt),
            "history" => options.history_off = diag.ok(opt.choice(&["off"])).is_some(),
            "crate" => options.facade = diag.ok(opt.one()),
            "retry" => options.retry = limits::retry(diag, &opt),
            _ => step_options::option(diag, &mut step, &opt),
        }
    }
    (step.start, step.done) = (Some(function.sig.ident.span()), Some(function.sig.ident.span()));
    let mut job = shape(diag, function)?;
    job.vis = visibility(&job, &step);
    spawns(diag, &step, &job);
    let ident = Ident::new(&text(&job.function.sig.ident).to_upper_camel_case(), job.function.sig.ident.span());
    options.name.get_or_insert_with(|| syn::LitStr::new(&text(&job.function.sig.ident), ident.span()));
    step.name = Some(syn::LitStr::new("run", ident.span()));
    let data = Data::Named(job.arguments.iter().map(|(name, ty)| field(&job.function.vis, name, ty)).collect());
    let attrs: Vec<_> = job.function.attrs.iter().filter(|a| attrs::is_shared(a)).cloned().collect();
    Some(Machine {
        facade: Facade::new(options.facade.as_ref()),
        item: None,
        ident: ident.clone(),
        vis: job.function.vis.clone(),
        steps: vec![Step { ident, cfgs: vec![], attrs: attrs.clone(), data, options: step }],
        attrs,
        job: Some(job),
        options,
        collided: vec![],
        broken: false,
    })
}

/// A plain result spawns nothing.
fn spawns(diag: &mut Diag, step: &StepOptions, job: &Job) {
    if let (Some(machine), false) = (step.spawn.first(), job.returns_outcome()) {
        let name = text(&job.function.sig.ident).to_upper_camel_case();
        let text = format!(
            "a job with `spawn(..)` returns its outcome: `-> Result<Outcome<{name}, T>, E>`, with \
             `Ok(done(value).spawn(start(..)))`"
        );
        diag.at(machine, text);
    }
}

fn field(vis: &Visibility, name: &Ident, ty: &Type) -> Field {
    parse_quote!(#vis #name: #ty)
}

fn shape(diag: &mut Diag, function: ItemFn) -> Option<Job> {
    let sig = &function.sig;
    if sig.asyncness.is_none() {
        diag.at(sig.fn_token, format!("a job is `async`\n{SHAPE}"));
        return None;
    }
    if !sig.generics.params.is_empty() {
        diag.at(&sig.generics, "a job has no generics: its rows are stored under one name");
        return None;
    }
    let ReturnType::Type(_, returns) = &sig.output else {
        diag.at(&sig.ident, format!("a job returns a `Result`\n{SHAPE}"));
        return None;
    };
    let returns = (**returns).clone();
    if !may_be_result(&returns) {
        diag.at(&returns, format!("a job returns a `Result`, or an alias of one: `JobResult`\n{SHAPE}"));
        return None;
    }
    if let Some(receiver) = sig.receiver() {
        diag.at(receiver, format!("a job is a function of its own, no method\n{SHAPE}"));
        return None;
    }
    let mut inputs = sig.inputs.iter();
    let handler = inputs.next().and_then(borrowed);
    let Some(handler) = handler else {
        diag.at(&sig.ident, format!("the first argument of a job borrows its handler: `shop: &Shop`\n{SHAPE}"));
        return None;
    };
    let mut rest: Vec<_> = inputs.collect();
    let context = rest.last().is_some_and(|last| is_context(last));
    if context {
        rest.pop();
    }
    let arguments = rest.into_iter().map(|a| diag.ok(argument(a))).collect::<Option<Vec<_>>>()?;
    let vis = function.vis.clone();
    Some(Job { handler, arguments, context, returns, function, vis })
}

/// As public as its result and its key allow: what an impl for a public type names must be public too.
fn visibility(job: &Job, step: &StepOptions) -> Visibility {
    let keys = step.key.iter().flat_map(|key| &key.fields);
    let mut keys = keys.filter_map(|f| job.arguments.iter().find(|(name, _)| *name == f.ident));
    let public = job.output().is_some_and(is_public) && keys.all(|(_, ty)| is_public(ty));
    if public { parse_quote!(pub) } else { job.vis.clone() }
}

/// A type that is everyone's: of the language, or of `std`.
fn is_public(ty: &Type) -> bool {
    const NAMES: [&str; 22] = [
        "bool", "char", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32",
        "f64", "String", "Vec", "Option", "Box", "BTreeMap", "HashMap",
    ];
    match ty {
        Type::Tuple(tuple) => tuple.elems.iter().all(is_public),
        Type::Path(path) => {
            let known = path.path.get_ident().is_some_and(|i| NAMES.contains(&text(i).as_str()));
            known
                || path.path.segments.last().is_some_and(|s| {
                    let inner = model::arguments(ty, &s.ident.to_string()).unwrap_or_default();
                    NAMES.contains(&text(&s.ident).as_str()) && !inner.is_empty() && inner.into_iter().all(is_public)
                })
        }
        _ => false,
    }
}

/// `Result<..>`, or an alias that is called like one.
fn may_be_result(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|s| text(&s.ident).ends_with("Result")),
        _ => false,
    }
}

fn borrowed(input: &FnArg) -> Option<Type> {
    match input {
        FnArg::Typed(typed) => match &*typed.ty {
            Type::Reference(r) if r.mutability.is_none() => Some((*r.elem).clone()),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    }
}

fn is_context(input: &FnArg) -> bool {
    matches!(borrowed(input), Some(Type::Path(p)) if p.path.segments.last().is_some_and(|s| s.ident == "StepContext"))
}

fn argument(input: &FnArg) -> syn::Result<(Ident, Type)> {
    let FnArg::Typed(typed) = input else { return Err(syn::Error::new_spanned(input, SHAPE)) };
    if matches!(&*typed.ty, Type::Reference(_)) {
        let text = "a job's argument is owned: it is stored with the job";
        return Err(syn::Error::new_spanned(&typed.ty, text));
    }
    match &*typed.pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Ok((p.ident.clone(), (*typed.ty).clone())),
        other => Err(syn::Error::new_spanned(other, "a job's argument is a plain name: it names the stored field")),
    }
}
