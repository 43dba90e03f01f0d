//! What a step receives: the argument's type, and the types made for several signals.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::{option, respan};
use crate::{
    model::{Await, AwaitMode, Machine, Step},
    names::stored,
    span::{last, text},
};

/// `<Step>Signal` or `<Step>Signals`, if the step has one.
pub fn signal_type(s: &Step) -> Option<Ident> {
    let awaits = s.options.awaits.as_ref()?;
    match awaits.mode {
        AwaitMode::All => Some(format_ident!("{}Signals", s.ident, span = s.ident.span())),
        // Several and a count are refused already: the type is there for the handler.
        AwaitMode::Any | AwaitMode::Biased | AwaitMode::Count(_) if awaits.signals.len() > 1 => {
            Some(format_ident!("{}Signal", s.ident, span = s.ident.span()))
        }
        AwaitMode::Any | AwaitMode::Biased | AwaitMode::Count(_) => None,
    }
}

/// The types that are made.
pub fn types(m: &Machine) -> TokenStream {
    m.steps.iter().filter_map(|s| Some(made(m, s, s.options.awaits.as_ref()?, &signal_type(s)?))).collect()
}

fn made(m: &Machine, s: &Step, awaits: &Await, name: &Ident) -> TokenStream {
    let (vis, cfgs, signals) = (&m.vis, &s.cfgs, &awaits.signals);
    let allow = quote!(#[allow(missing_docs, missing_debug_implementations, dead_code, non_camel_case_types, clippy::all, clippy::pedantic)]);
    if awaits.mode == AwaitMode::All {
        let (doc, fields) = (format!("The signals that step `{}` waits for.", text(&s.ident)), all_fields(awaits));
        return quote!(#(#cfgs)* #[doc = #doc] #allow #vis struct #name { #(#vis #fields: #signals),* });
    }
    let doc = format!("The signal that ended the wait of step `{}`.", text(&s.ident));
    let mut signals = signals.clone();
    if m.broken {
        // Two of one name are an error already.
        let mut seen = std::collections::BTreeSet::new();
        signals.retain(|path| seen.insert(last(path)));
    }
    let variants = signals.iter().map(last);
    quote!(#(#cfgs)* #[doc = #doc] #allow #vis enum #name { #(#variants(#signals)),* })
}

pub fn all_fields(awaits: &Await) -> Vec<Ident> {
    let field = |path| {
        let last: Ident = last(path);
        let name = stored(&last);
        syn::parse_str(&name).unwrap_or_else(|_| format_ident!("{name}_", span = last.span()))
    };
    awaits.signals.iter().map(field).collect()
}

/// What the handler gets, before the timeout.
pub fn received(s: &Step, awaits: &Await, at: Span) -> TokenStream {
    let first = &awaits.signals[0];
    match (signal_type(s), awaits.mode) {
        (Some(made), _) => quote!(#made),
        (None, AwaitMode::Count(_)) => quote_spanned!(at=> ::std::vec::Vec<#first>),
        (None, AwaitMode::Any | AwaitMode::Biased | AwaitMode::All) => quote!(#first),
    }
}

/// What of it has come at a timeout.
fn partly(awaits: &Await, at: Span) -> Option<TokenStream> {
    let signals = &awaits.signals;
    match awaits.mode {
        AwaitMode::All => Some(quote_spanned!(at=> (#(::core::option::Option<#signals>,)*))),
        AwaitMode::Count(_) => Some(quote_spanned!(at=> ::std::vec::Vec<#(#signals)*>)),
        AwaitMode::Any | AwaitMode::Biased => None,
    }
}

/// The type of the argument `signal`: what is ours of it stands at `at`.
pub fn argument(k: &TokenStream, s: &Step, awaits: &Await, at: Span) -> TokenStream {
    let (got, k) = (received(s, awaits, at), respan(k.clone(), at));
    match (s.options.timeout.is_some(), partly(awaits, at)) {
        (false, _) => got,
        (true, None) => quote_spanned!(at=> ::core::result::Result<#got, #k::TimedOut>),
        (true, Some(partly)) => quote_spanned!(at=> ::core::result::Result<#got, #k::Partial<#partly>>),
    }
}

/// `argument` as a person writes it.
pub fn argument_text(s: &Step, awaits: &Await) -> String {
    let text = super::pretty(argument(&quote!(), s, awaits, Span::call_site()));
    let short = ["::core::result::", "::core::option::", "::std::vec::"].iter().fold(text, |t, p| t.replace(p, ""));
    short.replace("<::", "<").replace(", ::", ", ").replace(",)", ")")
}

/// `AwaitInfo`.
pub fn info(k: &TokenStream, s: &Step) -> TokenStream {
    option(s.options.awaits.as_ref().map(|awaits| {
        let (signals, mode) = (&awaits.signals, super::step_impl::mode(k, awaits.mode));
        quote!(#k::AwaitInfo { signals: &[#(<#k::Quiet<#signals>>::SIGNAL_NAMES),*], mode: #mode })
    }))
}
