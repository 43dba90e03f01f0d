//! `#[durable_job]`: an async function to a one-step machine.

use std::collections::BTreeMap;

use heck::ToUpperCamelCase;
use proc_macro2::{Ident, TokenStream};
use syn::{Field, ItemFn, Type, Visibility, parse_quote};

use super::{
    job_shape::{shape, visibility},
    limits, machine,
    options::{Table, split},
    step as step_options,
};
use crate::{
    attrs,
    diag::Diag,
    krate::Facade,
    model::{Data, Job, Machine, MachineOptions, Step, StepOptions},
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
