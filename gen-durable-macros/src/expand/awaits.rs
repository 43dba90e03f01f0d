//! `impl Awaits`: what may be sent to the machine.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use crate::model::Machine;

/// `impl Awaits`: what may be sent to the machine, one slot for each awaited signal or set.
pub fn all(m: &Machine) -> TokenStream {
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
