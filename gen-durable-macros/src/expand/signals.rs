//! What a step receives: the types made for several signals, and how a received one is read.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::option;
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

fn all_fields(awaits: &Await) -> Vec<Ident> {
    let field = |path| {
        let last: Ident = last(path);
        let name = stored(&last);
        syn::parse_str(&name).unwrap_or_else(|_| format_ident!("{name}_", span = last.span()))
    };
    awaits.signals.iter().map(field).collect()
}

/// What the handler gets, before the timeout.
fn received(s: &Step, awaits: &Await) -> TokenStream {
    let first = &awaits.signals[0];
    match (signal_type(s), awaits.mode) {
        (Some(made), _) => quote!(#made),
        (None, AwaitMode::Count(_)) => quote!(::std::vec::Vec<#first>),
        (None, AwaitMode::Any | AwaitMode::Biased | AwaitMode::All) => quote!(#first),
    }
}

/// What of it has come at a timeout.
fn partly(awaits: &Await) -> Option<TokenStream> {
    let signals = &awaits.signals;
    match awaits.mode {
        AwaitMode::All => Some(quote!((#(::core::option::Option<#signals>,)*))),
        AwaitMode::Count(_) => Some(quote!(::std::vec::Vec<#(#signals)*>)),
        AwaitMode::Any | AwaitMode::Biased => None,
    }
}

/// The type of the argument `signal`.
pub fn argument(k: &TokenStream, s: &Step, awaits: &Await) -> TokenStream {
    let got = received(s, awaits);
    match (s.options.timeout.is_some(), partly(awaits)) {
        (false, _) => got,
        (true, None) => quote!(::core::result::Result<#got, #k::TimedOut>),
        (true, Some(partly)) => quote!(::core::result::Result<#got, #k::Partial<#partly>>),
    }
}

/// `argument` as a person writes it.
pub fn argument_text(s: &Step, awaits: &Await) -> String {
    let text = super::pretty(argument(&quote!(), s, awaits));
    let short = ["::core::result::", "::core::option::", "::std::vec::"].iter().fold(text, |t, p| t.replace(p, ""));
    short.replace("<::", "<").replace(", ::", ", ").replace(",)", ")")
}

/// Reads the argument from a run.
pub fn read(k: &TokenStream, s: &Step, awaits: &Await) -> TokenStream {
    let bounded = s.options.timeout.is_some();
    match awaits.mode {
        AwaitMode::Any | AwaitMode::Biased => read_one(k, s, awaits, bounded),
        AwaitMode::All => read_all(k, s, awaits, bounded),
        AwaitMode::Count(n) => read_count(k, &awaits.signals[0], n, bounded),
    }
}

fn early(k: &TokenStream) -> TokenStream {
    quote!(return ::core::result::Result::Err(#k::support::woken_early()))
}

fn read_one(k: &TokenStream, s: &Step, awaits: &Await, bounded: bool) -> TokenStream {
    let (receive, early) = (receive(k, s, awaits), early(k));
    let (come, missing) = match bounded {
        true => (quote!(::core::result::Result::Ok(signal)), quote!(::core::result::Result::Err(#k::TimedOut))),
        false => (quote!(signal), early),
    };
    quote! {{
        #receive
        match #k::support::first(&run.wake, receive)? {
            ::core::option::Option::Some(signal) => #come,
            ::core::option::Option::None => #missing,
        }
    }}
}

/// `receive`: a function that reads any of the awaited signals.
fn receive(k: &TokenStream, s: &Step, awaits: &Await) -> TokenStream {
    let got = received(s, awaits);
    let tries = awaits.signals.iter().map(|path| {
        let wrapped = match signal_type(s) {
            Some(made) => {
                let variant = last(path);
                quote!(#made::#variant(signal))
            }
            None => quote!(signal),
        };
        quote! {
            if let ::core::option::Option::Some(read) = <#k::Quiet<#path>>::receive(name, payload) {
                return ::core::option::Option::Some(match read {
                    ::core::result::Result::Ok(signal) => ::core::result::Result::Ok(#wrapped),
                    ::core::result::Result::Err(invalid) => ::core::result::Result::Err(invalid),
                });
            }
        }
    });
    quote! {
        fn receive(name: &#k::str, payload: &#k::Json) -> #k::Option<#k::Result<#got, #k::Invalid>> {
            #(#tries)*
            ::core::option::Option::None
        }
    }
}

fn read_all(k: &TokenStream, s: &Step, awaits: &Await, bounded: bool) -> TokenStream {
    let (made, fields, signals, early) = (signal_type(s), all_fields(awaits), &awaits.signals, early(k));
    let (all, missing) = match bounded {
        true => (
            quote!(::core::result::Result::Ok(#made { #(#fields),* })),
            quote!(::core::result::Result::Err(#k::Partial::new(partial))),
        ),
        false => (quote!(#made { #(#fields),* }), quote!({ let _ = partial; #early })),
    };
    quote! {
        match (#(#k::support::first::<#signals>(&run.wake, <#k::Quiet<#signals>>::receive)?,)*) {
            (#(::core::option::Option::Some(#fields),)*) => #all,
            partial => #missing,
        }
    }
}

fn read_count(k: &TokenStream, signal: &Path, count: u32, bounded: bool) -> TokenStream {
    let early = early(k);
    let (all, missing) = match bounded {
        true => (
            quote!(::core::result::Result::Ok(signals)),
            quote!(::core::result::Result::Err(#k::Partial::new(signals))),
        ),
        false => (quote!(signals), early),
    };
    quote! {{
        let signals = #k::support::every::<#signal>(&run.wake, <#k::Quiet<#signal>>::receive)?;
        if signals.len() >= #count as #k::usize { #all } else { #missing }
    }}
}

/// `impl Awaits`: what may be sent to the machine, one slot for each awaited signal or set.
pub fn awaits(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    if m.broken {
        return quote!(impl<Sent> #k::Awaits<Sent, #k::NoSlot> for #enum_ {});
    }
    let paths = distinct(m);
    let conditions: Vec<_> =
        paths.iter().map(|(_, cfgs)| cfgs.as_ref().map(|any| quote!(#[cfg(any(#(#any),*))]))).collect();
    let names = paths.iter().zip(&conditions).map(|((path, _), cfg)| quote!(#cfg <#k::Quiet<#path>>::SIGNAL_NAMES));
    let names = quote!(const AWAITED: &[&[&#k::str]] = &[#(#names),*];);
    let impls = paths.iter().zip(&conditions).enumerate().map(|(i, ((path, _), cfg))| {
        let here = quote!({ !#k::support::covered(<#k::Quiet<#path>>::SIGNAL_NAMES, AWAITED) });
        quote!(#cfg impl<__Sent: #k::MemberIf<#path, #here>> #k::Awaits<__Sent, #k::SlotNumber<#i>> for #enum_ {})
    });
    // With one impl alone the compiler would take it, and complain of its bound instead of the signal.
    let other = (!paths.is_empty())
        .then(|| quote!(impl<__Sent: #k::MemberOf<#k::NoSlot>> #k::Awaits<__Sent, #k::NoSlot> for #enum_ {}));
    let names = (!paths.is_empty()).then_some(names);
    quote!(#names #(#impls)* #other)
}

/// Each awaited path once; with the conditions under which it is awaited, when there always are some.
fn distinct(m: &Machine) -> Vec<(&Path, Option<Vec<TokenStream>>)> {
    let mut found: Vec<(String, &Path, Option<Vec<TokenStream>>)> = vec![];
    let mut add = |path, condition: Option<TokenStream>| {
        let word = quote!(#path).to_string();
        match (found.iter_mut().find(|(w, ..)| *w == word), condition) {
            (Some((.., conditions)), None) => *conditions = None,
            (Some((.., conditions)), Some(c)) => conditions.iter_mut().for_each(|all| all.push(c.clone())),
            (None, condition) => found.push((word, path, condition.map(|c| vec![c]))),
        }
    };
    for s in &m.steps {
        let condition = (!s.cfgs.is_empty()).then(|| {
            let parts = s.cfgs.iter().filter_map(|a| a.meta.require_list().ok()).map(|l| &l.tokens);
            quote!(all(#(#parts),*))
        });
        s.options.awaits.iter().flat_map(|a| &a.signals).for_each(|path| add(path, condition.clone()));
    }
    m.options.on.iter().for_each(|(path, _)| add(path, None));
    found.into_iter().map(|(_, path, conditions)| (path, conditions)).collect()
}

/// `AwaitInfo`.
pub fn info(k: &TokenStream, s: &Step) -> TokenStream {
    option(s.options.awaits.as_ref().map(|awaits| {
        let (signals, mode) = (&awaits.signals, super::step_impl::mode(k, awaits.mode));
        quote!(#k::AwaitInfo { signals: &[#(<#k::Quiet<#signals>>::SIGNAL_NAMES),*], mode: #mode })
    }))
}
