//! Steps that are named exist; nothing is named twice; no two steps are stored under one name.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote};
use syn::{LitStr, Path};

use crate::{
    diag::{Diag, did_you_mean, list},
    model::{Data, Machine, Step},
    span::{at, last, text},
};

pub fn check(diag: &mut Diag, m: &Machine) {
    known_steps(diag, m);
    stored(diag, m);
    generated(diag, m);
    data_types(diag, m);
    signals(diag, m);
    for s in &m.steps {
        twice(diag, "next", &s.options.next);
        twice(diag, "spawn", &s.options.spawn);
        twice(diag, "join", s.options.join.as_ref().map_or(&[], |j| &j.value));
        twice(diag, "await", s.options.awaits.as_ref().map_or(&[], |a| &a.signals));
    }
}

fn known_steps(diag: &mut Diag, m: &Machine) {
    let names: Vec<String> = m.steps.iter().map(|s| text(&s.ident)).collect();
    for target in m.steps.iter().flat_map(Step::targets).chain(m.exits()) {
        let word = text(target);
        if !names.contains(&word) {
            let hint = did_you_mean(&word, names.iter().map(String::as_str));
            diag.at(target, format!("machine `{}` has no step `{word}`{hint}\nsteps: {}", m.ident, list(&names)));
        }
    }
}

fn twice<T: ToTokens>(diag: &mut Diag, option: &str, items: &[T]) {
    let mut seen = vec![];
    for item in items {
        let word = item.to_token_stream().to_string();
        if seen.contains(&word) {
            diag.at(item, format!("`{}` stands twice in `{option}(..)`: keep one", word.replace(' ', "")));
        }
        seen.push(word);
    }
}

/// Stored names and aliases, of all steps together.
fn stored(diag: &mut Diag, m: &Machine) {
    let mut seen = BTreeMap::<String, &Ident>::new();
    let mut claim = |diag: &mut Diag, step, name: String, span: Span| match seen.insert(name.clone(), step) {
        Some(other) if other == step => diag.at_span(span, format!("step `{step}` is stored as {name:?} already")),
        Some(other) => {
            let text = format!("steps `{other}` and `{step}` are both stored as {name:?}: give one `name = \"..\"`");
            diag.at_span(span, text);
        }
        None => {}
    };
    for s in &m.steps {
        claim(diag, &s.ident, s.stored_name(), s.options.name.as_ref().map_or(s.ident.span(), LitStr::span));
    }
    for s in &m.steps {
        s.options.aliases.iter().for_each(|a| claim(diag, &s.ident, a.value(), a.span()));
    }
    machine_aliases(diag, m);
}

fn machine_aliases(diag: &mut Diag, m: &Machine) {
    let mut seen = vec![m.stored_name()];
    for alias in &m.options.aliases {
        if seen.contains(&alias.value()) {
            diag.at(alias, format!("machine `{}` is stored as {:?} already", m.ident, alias.value()));
        }
        seen.push(alias.value());
    }
}

/// Names that the macro makes of a step's must not meet.
fn generated(diag: &mut Diag, m: &Machine) {
    if m.job.is_some() {
        return;
    }
    let steps_trait = m.steps_trait();
    let types: Vec<Ident> = m.steps.iter().filter_map(crate::expand::signal_type).collect();
    let mut methods = BTreeMap::new();
    for s in &m.steps {
        if s.ident == m.ident {
            diag.at(&s.ident, format!("step `{}` has the name of its machine: both become a type", s.ident));
        }
        if s.ident == steps_trait || types.contains(&s.ident) {
            diag.at(&s.ident, format!("step `{0}` has the name of a type that the macro makes: `{0}`", s.ident));
        }
        let method = crate::names::method(&s.ident);
        if let Some(other) = methods.insert(method.clone(), &s.ident) {
            diag.at(&s.ident, format!("steps `{other}` and `{}` have one handler name, `{method}`", s.ident));
        }
    }
}

/// A type is the data of one step.
fn data_types(diag: &mut Diag, m: &Machine) {
    let mut seen = BTreeMap::new();
    for s in &m.steps {
        if let Data::Given(ty) = &s.data
            && let Some(other) = seen.insert(quote!(#ty).to_string(), &s.ident)
        {
            let name = quote!(#ty).to_string().replace(' ', "");
            diag.at(ty, format!("`{name}` is the data of step `{other}` already: a type is the data of one step"));
        }
    }
}

/// Awaited signals are told apart by their last path segment.
fn signals(diag: &mut Diag, m: &Machine) {
    let mut seen = BTreeMap::<String, String>::new();
    for path in awaited(m) {
        let (name, whole) = (text(&last(path)), quote!(#path).to_string());
        let first = seen.entry(name.clone()).or_insert_with(|| whole.clone());
        if *first != whole {
            let text = format!("two awaited signals are called `{name}`: import one `as` another name");
            diag.at_span(at(path), text);
        }
    }
}

/// Every awaited path, exits included.
pub fn awaited(m: &Machine) -> impl Iterator<Item = &Path> {
    let by_steps = m.steps.iter().filter_map(|s| s.options.awaits.as_ref()).flat_map(|a| &a.signals);
    by_steps.chain(m.options.on.iter().map(|(path, _)| path))
}
