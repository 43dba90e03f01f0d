//! The enum: variants to steps, attributes to where they belong.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use syn::{
    Attribute, Expr, Fields, GenericArgument, Ident, ItemEnum, Lifetime, Meta, Type, Variant, parse_quote,
    visit_mut::{self, VisitMut},
};

use super::{machine as machine_options, step as step_options};
use crate::{
    attrs,
    diag::Diag,
    krate::Facade,
    model::{Data, Machine, Step, StepOptions},
};

/// Parses `#[durable_fsm(args)] item`.
pub fn machine(diag: &mut Diag, args: TokenStream, mut item: ItemEnum) -> Machine {
    let options = machine_options::options(diag, args);
    generics(diag, &mut item);
    let steps = item.variants.iter_mut().map(|variant| step(diag, variant)).collect();
    Machine {
        facade: Facade::new(options.facade.as_ref()),
        ident: item.ident.clone(),
        vis: item.vis.clone(),
        attrs: item.attrs.clone(),
        item: Some(item),
        job: None,
        options,
        steps,
        collided: vec![],
        broken: false,
    }
}

fn generics(diag: &mut Diag, item: &mut ItemEnum) {
    if !item.generics.params.is_empty() {
        diag.at(&item.generics, "a machine has no generics: its rows are stored under one name");
    } else if let Some(clause) = &item.generics.where_clause {
        diag.at(clause, "a machine has no `where` clause: it has no generics");
    }
    let without = WithoutGenerics::remove(item);
    for ty in without.refused {
        let text = match &ty {
            Type::Reference(_) => "a step owns its data: a reference cannot be read back",
            _ => "a field names its type: `impl Trait` cannot be stored",
        };
        diag.at(ty, text);
    }
}

/// Takes our attributes and serde's off the variant.
fn step(diag: &mut Diag, variant: &mut Variant) -> Step {
    let (ours, rest): (Vec<_>, Vec<_>) = variant.attrs.drain(..).partition(|a| a.path().is_ident("step"));
    let (mut options, mut seen) = (StepOptions::default(), BTreeMap::new());
    for attr in ours {
        if let Some(tokens) = diag.ok(inner(&attr)) {
            step_options::options(diag, &mut options, &mut seen, tokens);
        }
    }
    let data = data(diag, variant);
    let on_struct = rest.iter().filter(|a| attrs::is_serde(a) || attrs::is_shared(a)).cloned().collect();
    let cfgs = attrs::cfgs(&rest);
    variant.attrs = rest.into_iter().filter(|a| !attrs::is_serde(a)).collect();
    Step { ident: variant.ident.clone(), attrs: on_struct, cfgs, data, options }
}

fn inner(attr: &Attribute) -> syn::Result<TokenStream> {
    match &attr.meta {
        Meta::List(list) => Ok(list.tokens.clone()),
        Meta::Path(_) => Ok(TokenStream::new()),
        Meta::NameValue(meta) => Err(syn::Error::new_spanned(meta, "`step` is written `#[step(start, next(..))]`")),
    }
}

fn data(diag: &mut Diag, variant: &mut Variant) -> Data {
    if let Some((_, value)) = &variant.discriminant {
        diag.at(value, "a step has no discriminant: it is stored by its name");
    }
    match &mut variant.fields {
        Fields::Unit => Data::Unit,
        Fields::Named(fields) => {
            let all = fields.named.iter().cloned().collect();
            fields.named.iter_mut().for_each(|f| f.attrs.retain(|a| !attrs::is_serde(a)));
            Data::Named(all)
        }
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Data::Given(Box::new(fields.unnamed[0].ty.clone())),
        Fields::Unnamed(fields) => {
            diag.at(fields, "a step holds named fields, one data type `Variant(MyData)`, or nothing");
            Data::Unit
        }
    }
}

/// Takes out what is refused, so that it is the only error.
struct WithoutGenerics {
    types: Vec<Ident>,
    constants: Vec<Ident>,
    /// Whether there were any: a borrowed field is told by its lifetime then.
    any: bool,
    refused: Vec<Type>,
}

impl WithoutGenerics {
    fn remove(item: &mut ItemEnum) -> Self {
        let generics = std::mem::take(&mut item.generics);
        let types = generics.type_params().map(|p| p.ident.clone()).collect();
        let constants = generics.const_params().map(|p| p.ident.clone()).collect();
        let mut without = Self { types, constants, any: !generics.params.is_empty(), refused: vec![] };
        without.visit_item_enum_mut(item);
        without
    }
}

impl VisitMut for WithoutGenerics {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if self.types.iter().any(|param| path.path.is_ident(param)) => *ty = parse_quote!(()),
            Type::Reference(_) if self.any => *ty = parse_quote!(()),
            Type::ImplTrait(_) | Type::Reference(_) => self.refused.push(std::mem::replace(ty, parse_quote!(()))),
            // A function's argument is no data.
            Type::FnPtr(_) => {}
            _ => visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(path) if self.constants.iter().any(|param| path.path.is_ident(param)) => *expr = parse_quote!(0),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        match argument {
            GenericArgument::Type(Type::Path(path)) if self.constants.iter().any(|param| path.path.is_ident(param)) => {
                *argument = parse_quote!(0);
            }
            _ => visit_mut::visit_generic_argument_mut(self, argument),
        }
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        lifetime.ident = Ident::new("static", lifetime.ident.span());
    }
}
