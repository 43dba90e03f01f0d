//! Options that exclude or need one another.

use syn::spanned::Spanned;

use super::cron;
use crate::{
    diag::Diag,
    model::{AwaitMode, Data, Machine, Schedule, Step, Timeout},
};

pub fn check(diag: &mut Diag, m: &Machine) {
    for s in &m.steps {
        waits(diag, s);
        start(diag, m, s);
        schedule(diag, s);
    }
    joins_entered(diag, m);
    conditional(diag, m);
    machine(diag, m);
}

fn waits(diag: &mut Diag, s: &Step) {
    let o = &s.options;
    if let (Some(join), Some(_)) = (&o.join, &o.awaits) {
        diag.at_span(join.span, "a step waits for signals or for children, not both: split it in two");
    }
    if let (Some(join), Some(_)) = (&o.join, o.start) {
        diag.at_span(join.span, "a join step cannot start: nobody has started children yet");
    }
    if let (Some(timeout), Some(_)) = (&o.timeout, &o.join)
        && matches!(timeout.value, Timeout::UntilField(_))
    {
        diag.at_span(timeout.span, "`until` bounds an `await(..)` or is a timer; a join has `timeout`");
    }
    for (given, word) in [(o.quorum.as_ref().map(|q| q.span), "quorum"), (o.rest.as_ref().map(|r| r.span), "rest")] {
        if let (Some(span), None) = (given, &o.join) {
            diag.at_span(span, format!("`{word}` stands beside `join(..)`, and this step has none"));
        }
    }
    if let Some(awaits) = &o.awaits {
        several(diag, awaits);
    }
}

fn several(diag: &mut Diag, awaits: &crate::model::Await) {
    match awaits.mode {
        AwaitMode::Biased if awaits.signals.len() < 2 => {
            diag.at_span(awaits.span, "`biased` orders several signals, and here is one");
        }
        AwaitMode::Count(_) if awaits.signals.len() > 1 => {
            diag.at_span(awaits.span, "`count` counts one signal: `await(Signal, count = 3)`");
        }
        AwaitMode::Any | AwaitMode::Biased | AwaitMode::All | AwaitMode::Count(_) => {}
    }
}

fn start(diag: &mut Diag, m: &Machine, s: &Step) {
    let Some(key) = &s.options.key else { return };
    if s.options.start.is_none() {
        let text = format!("`key` names an instance when it starts: mark step `{}` `start`, or remove it", s.ident);
        diag.at_span(key.span, text);
    }
    let first = m.steps.iter().find(|o| o.options.key.is_some());
    if let Some(first) = first.filter(|f| f.ident != s.ident)
        && let (Some(a), Some(b)) = (key_types(first), key_types(s))
        && a != b
    {
        let text =
            format!("a machine has one key type: step `{}` has `{a}`, step `{}` has `{b}`", first.ident, s.ident);
        diag.at_span(key.span, text);
    }
}

/// The types of a key's fields, as text; `None` when the annotation cannot see one.
fn key_types(s: &Step) -> Option<String> {
    let key = s.options.key.as_ref()?;
    let types = key.fields.iter().map(|f| super::fields::ty(s, f).map(|t| quote::quote!(#t).to_string()));
    Some(types.collect::<Option<Vec<_>>>()?.join(", ").replace(' ', ""))
}

fn schedule(diag: &mut Diag, s: &Step) {
    let o = &s.options;
    match &o.schedule {
        Some(at) if o.start.is_none() => {
            diag.at_span(at.span, format!("a schedule starts an instance: mark step `{}` `start`", s.ident));
        }
        Some(_) => {}
        None => {
            for (given, word) in [(&o.tz, "tz"), (&o.missed, "missed")] {
                if let Some(lit) = given {
                    diag.at(lit, format!("`{word}` belongs to `every` or `cron`, and this step has neither"));
                }
            }
        }
    }
    if let Some(Schedule::Cron(lit)) = o.schedule.as_ref().map(|at| &at.value)
        && let Err(problem) = cron::check(&lit.value())
    {
        diag.at(lit, problem);
    }
    if let Some(tz) = o.tz.as_ref().filter(|tz| !names_a_place(&tz.value())) {
        diag.at(tz, format!("{:?} is no time zone: it is called like \"Europe/Berlin\" or \"UTC\"", tz.value()));
    }
    if let (Some(tz), Some(Schedule::Every(_))) = (&o.tz, o.schedule.as_ref().map(|at| &at.value)) {
        diag.at(tz, "`tz` belongs to `cron`: an interval has no time zone");
    }
}

/// By its characters: which names there are is known where the worker runs.
fn names_a_place(tz: &str) -> bool {
    !tz.is_empty() && tz.chars().all(|c| c.is_ascii_alphanumeric() || "/_+-".contains(c))
}

/// Nothing but `fan_out` leads into a join.
fn joins_entered(diag: &mut Diag, m: &Machine) {
    let catches = m.steps.iter().filter_map(|s| s.options.catch.as_ref());
    for target in catches.chain(m.exits()) {
        if m.step(target).is_some_and(|s| s.options.join.is_some()) {
            let text = format!("step `{target}` waits for children: only `fan_out` leads there, no catch and no exit");
            diag.at(target, text);
        }
    }
}

/// A catch or an exit is one place: it cannot lead to a step that is compiled only sometimes.
fn conditional(diag: &mut Diag, m: &Machine) {
    let all = |s: &Step| s.cfgs.iter().map(|a| quote::quote!(#a).to_string()).collect::<Vec<_>>();
    let caught = m.steps.iter().filter_map(|s| Some((all(s), s.options.catch.as_ref()?)));
    for (conditions, target) in caught.chain(m.exits().map(|to| (vec![], to))) {
        if m.step(target).is_some_and(|t| all(t).iter().any(|c| !conditions.contains(c))) {
            let text = format!("step `{target}` is under `#[cfg]`: no catch and no exit can lead there");
            diag.at(target, text);
        }
    }
}

fn machine(diag: &mut Diag, m: &Machine) {
    let o = &m.options;
    match (&o.deadline, &o.on_deadline) {
        (Some(at), None) => diag.at_span(at.span, "`deadline` needs `on_deadline(Step)`: where the machine goes then"),
        (None, Some(step)) => diag.at(step, "`on_deadline` needs `deadline = \"..\"`: when it goes there"),
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let Some(item) = &m.item
        && item.variants.is_empty()
    {
        diag.at(&item.ident, format!("machine `{}` has no steps", item.ident));
    }
    let mut seen = vec![];
    for (signal, _) in &o.on {
        let word = quote::quote!(#signal).to_string();
        if seen.contains(&word) {
            diag.at_span(signal.span(), "this signal leads to one step only: keep one `on(..)`");
        }
        seen.push(word);
    }
    for s in &m.steps {
        if let (Data::Given(_), true) = (&s.data, s.attrs.iter().any(crate::attrs::is_serde)) {
            diag.at(&s.ident, "serde attributes of a data type of your own stand on that type");
        }
    }
}
