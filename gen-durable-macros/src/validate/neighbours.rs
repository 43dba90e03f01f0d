//! What stands in the machine's module and has the name of one of its steps: a type, or a step of a machine before it.
//! It is told here, once; the compiler would tell it once for every trait that a step has.
//!
//! The file is read for that. Whatever cannot be read or found says nothing: then the compiler speaks.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Attribute, Fields, Item, ItemEnum, ItemStruct, Variant};

use crate::{
    diag::Diag,
    model::{Data, Machine},
    span::last,
};

/// By type, as text: what it is already.
type Taken = BTreeMap<String, (Owner, String)>;

/// Whose a type is already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user's.
    User,
    /// Another machine's.
    Machine,
}

/// Returns the steps whose types are taken.
pub fn check(diag: &mut Diag, m: &Machine) -> Vec<(Ident, Owner)> {
    let taken = module_of(m).unwrap_or_default();
    let mut collided = vec![];
    for s in &m.steps {
        let ty = s.ty();
        let Some((owner, what)) = taken.get(&ty.to_token_stream().to_string()) else { continue };
        match (&s.data, owner) {
            (Data::Given(_), Owner::User) => continue,
            (Data::Given(_), Owner::Machine) => {
                diag.at(&ty, format!("this is the data of {what} already: a type is the data of one step"));
            }
            (Data::Named(_) | Data::Unit, _) => diag.at(&s.ident, becomes(&s.ident, *owner, what)),
        }
        collided.push((s.ident.clone(), *owner));
    }
    collided
}

fn becomes(step: &Ident, owner: Owner, what: &str) -> String {
    let help = match owner {
        Owner::User => format!("make it the step's data, `{step}({step})`"),
        Owner::Machine => "give each machine a module".to_owned(),
    };
    format!("step `{step}` becomes the type `{step}`, and here is {what}: rename one, or {help}")
}

fn module_of(m: &Machine) -> Option<Taken> {
    let text = std::fs::read_to_string(proc_macro::Span::call_site().local_file()?).ok()?;
    let defined = |s: &Ident| text.contains(&format!("struct {s}"));
    if text.matches("durable_fsm").nth(1).is_none() && !m.steps.iter().any(|s| defined(&s.ident)) {
        return None;
    }
    let mut found = vec![];
    search(&syn::parse_file(&text).ok()?.items, m.item.as_ref()?, &mut found);
    // Two modules with such an enum: which of them is this one cannot be told.
    if found.len() == 1 { found.pop() } else { None }
}

/// What is taken beside this enum, in every module that has it.
fn search(items: &[Item], this: &ItemEnum, found: &mut Vec<Taken>) {
    let is_this = |item: &Item| matches!(item, Item::Enum(e) if is_machine(e) && is_same(e, this));
    if let Some(at) = items.iter().position(is_this) {
        found.push(items.iter().filter_map(users_struct).chain(items[..at].iter().flat_map(steps)).collect());
    }
    for item in items {
        if let Item::Mod(module) = item {
            search(module.content.as_ref().map_or(&[], |(_, items)| items), this, found);
        }
    }
}

fn users_struct(item: &Item) -> Option<(String, (Owner, String))> {
    let Item::Struct(ItemStruct { ident, attrs, generics, .. }) = item else { return None };
    let plain = is_unconditional(attrs) && generics.params.is_empty();
    plain.then(|| (ident.to_string(), (Owner::User, format!("struct `{ident}`"))))
}

fn steps(item: &Item) -> Vec<(String, (Owner, String))> {
    let Item::Enum(machine) = item else { return vec![] };
    let step = |v: &Variant| {
        Some((data_type(v)?, (Owner::Machine, format!("step `{}` of machine `{}`", v.ident, machine.ident))))
    };
    if is_machine(machine) { machine.variants.iter().filter_map(step).collect() } else { vec![] }
}

/// A machine in every build.
fn is_machine(item: &ItemEnum) -> bool {
    item.attrs.iter().any(|a| last(a.path()) == "durable_fsm") && is_unconditional(&item.attrs)
}

fn is_unconditional(attrs: &[Attribute]) -> bool {
    !attrs.iter().any(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr"))
}

/// The same enum, by its steps and their fields.
fn is_same(written: &ItemEnum, this: &ItemEnum) -> bool {
    let fields = |v: &Variant| v.fields.members().map(|m| m.to_token_stream().to_string()).collect::<Vec<_>>();
    let steps = |item: &ItemEnum| item.variants.iter().map(|v| (v.ident.to_string(), fields(v))).collect::<Vec<_>>();
    written.ident == this.ident && steps(written) == steps(this)
}

fn data_type(v: &Variant) -> Option<String> {
    let ty = match &v.fields {
        Fields::Named(_) | Fields::Unit => v.ident.to_token_stream(),
        Fields::Unnamed(fields) => fields.unnamed.first()?.ty.to_token_stream(),
    };
    is_unconditional(&v.attrs).then(|| ty.to_string())
}
