//! `Signal` and `Signals`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Fields, LitStr, Type};

use super::{begin, name};
use crate::{diag::Diag, parse::derive};

/// A signal's payload is an object: a struct with named fields, or without any.
pub fn signal(diag: &mut Diag, item: &DeriveInput) -> TokenStream {
    let (options, k) = begin(diag, "signal", &derive::SIGNAL, item);
    let unit = match &item.data {
        Data::Struct(data) => matches!(data.fields, Fields::Unit),
        Data::Enum(_) | Data::Union(_) => false,
    };
    let named = matches!(&item.data, Data::Struct(data) if matches!(data.fields, Fields::Named(_)));
    if !unit && !named {
        diag.at(&item.ident, "a signal is a struct with named fields, or without any: its payload is a JSON object");
    }
    let (ident, name, aliases) = (&item.ident, name(&options, item), &options.aliases);
    let (again, aliases): (Vec<&LitStr>, Vec<_>) = aliases.iter().partition(|a| a.value() == name.value());
    for alias in again {
        diag.at(alias, format!("signal `{ident}` is stored as {:?} already", alias.value()));
    }
    let (read, write) = if unit {
        (quote!(::core::result::Result::Ok(#ident)), quote!(::core::result::Result::Ok(#k::Json::object())))
    } else {
        (quote!(<#k::Quiet<Self>>::decode("payload", payload)), quote!(<#k::Quiet<Self>>::encode("payload", self)))
    };
    quote! {
        const _: () = {
            use #k::Fallback as _;
            const _: () = #k::support::persist::<#ident>();
            impl #k::Signal for #ident {
                const NAME: &'static #k::str = #name;
                fn payload(&self) -> #k::Result<#k::Json, #k::Invalid> { #write }
            }
            impl #k::Awaitable for #ident {
                const NAMES: &'static [&'static #k::str] = &[#name #(, #aliases)*];
                fn receive(name: &#k::str, payload: &#k::Json) -> #k::Option<#k::Result<Self, #k::Invalid>> {
                    match name {
                        #name #(| #aliases)* => ::core::option::Option::Some(#read),
                        _ => ::core::option::Option::None,
                    }
                }
            }
            impl #k::MemberOf<#ident> for #ident {}
        };
    }
}

/// `enum Event { PlanChanged(PlanChanged), .. }`.
pub fn signals(diag: &mut Diag, item: &DeriveInput) -> TokenStream {
    let (_, k) = begin(diag, "signals", &derive::SIGNALS, item);
    let Data::Enum(data) = &item.data else {
        diag.at(&item.ident, "a set of signals is an enum: `enum Event { PlanChanged(PlanChanged), .. }`");
        return quote!();
    };
    let members = members(diag, data);
    let (ident, types) = (&item.ident, members.iter().map(|(_, ty)| ty).collect::<Vec<_>>());
    let tries = members.iter().map(|(variant, ty)| {
        quote! {
            if let ::core::option::Option::Some(read) = <#k::Quiet<#ty>>::receive(name, payload) {
                return ::core::option::Option::Some(match read {
                    ::core::result::Result::Ok(signal) => ::core::result::Result::Ok(#ident::#variant(signal)),
                    ::core::result::Result::Err(invalid) => ::core::result::Result::Err(invalid),
                });
            }
        }
    });
    quote! {
        const _: () = {
            use #k::Fallback as _;
            #(const _: () = #k::support::signal::<#types>();)*
            impl #k::Signals for #ident {}
            impl #k::Awaitable for #ident {
                const NAMES: &'static [&'static #k::str] =
                    #k::support::concat::<{ 0 #(+ <#k::Quiet<#types>>::SIGNAL_NAMES.len())* }>(
                        &[#(<#k::Quiet<#types>>::SIGNAL_NAMES),*]
                    ).as_slice();
                fn receive(name: &#k::str, payload: &#k::Json) -> #k::Option<#k::Result<Self, #k::Invalid>> {
                    #(#tries)*
                    ::core::option::Option::None
                }
            }
            #(impl #k::MemberOf<#ident> for #types {})*
        };
    }
}

fn members<'a>(diag: &mut Diag, data: &'a DataEnum) -> Vec<(&'a syn::Ident, &'a Type)> {
    let mut members: Vec<(&syn::Ident, &Type)> = vec![];
    for variant in &data.variants {
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let ty = &fields.unnamed[0].ty;
                let word = quote!(#ty).to_string();
                if members.iter().any(|(_, other)| quote!(#other).to_string() == word) {
                    diag.at(ty, "this signal is in the set already: keep one");
                } else {
                    members.push((&variant.ident, ty));
                }
            }
            Fields::Unnamed(_) | Fields::Named(_) | Fields::Unit => {
                diag.at(variant, format!("a member of a set holds one signal: `{0}({0})`", variant.ident));
            }
        }
    }
    if members.is_empty() && diag.is_empty() {
        diag.at(data.enum_token, "a set of signals has at least one");
    }
    members
}
