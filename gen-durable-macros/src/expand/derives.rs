//! `Signal`, `Signals`, `RateLimit`, `ConcurrencyKey`, `KeyPart`: declared once, used by type.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Fields, LitStr, Type, spanned::Spanned};

use super::{duration, option};
use crate::{
    diag::Diag,
    krate::Facade,
    names::stored,
    parse::{Table, derive},
};

type Options = derive::DeriveOptions;

fn begin(diag: &mut Diag, attr: &str, table: &Table, item: &DeriveInput) -> (Options, TokenStream) {
    let options = derive::options(diag, attr, table, &item.attrs);
    let k = Facade::new(options.facade.as_ref()).private();
    (options, k)
}

fn name(options: &Options, item: &DeriveInput) -> LitStr {
    options.name.clone().unwrap_or_else(|| LitStr::new(&stored(&item.ident), item.ident.span()))
}

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

fn unit_struct(diag: &mut Diag, item: &DeriveInput, what: &str) {
    if !matches!(&item.data, Data::Struct(data) if matches!(data.fields, Fields::Unit)) {
        diag.at(&item.ident, format!("{what} is a unit struct: `struct {};`", item.ident));
    }
}

/// `#[rate_limit(allowed = 100, per = "1m")]`.
pub fn rate_limit(diag: &mut Diag, item: &DeriveInput) -> TokenStream {
    let (options, k) = begin(diag, "rate_limit", &derive::RATE_LIMIT, item);
    unit_struct(diag, item, "a rate limit");
    if diag.is_empty() && (options.allowed.is_none() || options.per.is_none()) {
        diag.at(&item.ident, "a rate limit says how much and how often: `#[rate_limit(allowed = 100, per = \"1m\")]`");
    }
    let allowed = options.allowed.as_ref().map_or(1, |a| a.value);
    let burst = options.burst.as_ref().map_or(allowed, |b| b.value);
    let shards = options.shards.as_ref().map_or(1, |s| s.value);
    if let Some(at) = options.shards.as_ref().filter(|s| u32::from(s.value) > burst) {
        diag.at_span(at.span, format!("{} shards share {burst} tokens: each needs at least one", at.value));
    }
    let per = duration(&k, options.per.unwrap_or(std::time::Duration::from_secs(1)));
    let (ident, name, key) = (&item.ident, name(&options, item), key(&options.key));
    quote! {
        impl #k::RateLimit for #ident {
            const NAME: &'static #k::str = #name;
            const ALLOWED: #k::u32 = #allowed;
            const PER: #k::Duration = #per;
            const BURST: #k::u32 = #burst;
            const SHARDS: #k::u16 = #shards;
            type Key = #key;
        }
    }
}

/// `#[concurrency(key(u64), limit = 8)]`.
pub fn concurrency_key(diag: &mut Diag, item: &DeriveInput) -> TokenStream {
    let (options, k) = begin(diag, "concurrency", &derive::CONCURRENCY, item);
    unit_struct(diag, item, "a concurrency key");
    if let (Some(span), None) = (options.held, &options.limit) {
        diag.at_span(span, "`held` needs a limit: `#[concurrency(limit = 8, held)]`");
    }
    if let (Some(shards), None) = (&options.shards, &options.limit) {
        diag.at_span(shards.span, "`shards` split a limit: `#[concurrency(limit = 64, shards = 8)]`");
    }
    if let (Some(shards), Some(limit)) = (&options.shards, &options.limit)
        && u32::from(shards.value) > limit.value
    {
        let text = format!("{} shards share a limit of {}: each needs at least one", shards.value, limit.value);
        diag.at_span(shards.span, text);
    }
    let (limit, shards) = (option(options.limit.as_ref().map(|l| l.value)), options.shards.map_or(1, |s| s.value));
    let (ident, name, held) = (&item.ident, options.name.clone(), options.held.is_some());
    let (name, key) = (name.unwrap_or_else(|| LitStr::new(&stored(ident), ident.span())), key(&options.key));
    quote! {
        impl #k::ConcurrencyKey for #ident {
            const NAME: &'static #k::str = #name;
            const LIMIT: #k::Option<#k::u32> = #limit;
            const SHARDS: #k::u16 = #shards;
            const HELD: #k::bool = #held;
            type Key = #key;
        }
    }
}

/// A tuple, placed at the first type: one that is no part of a key is told there.
fn key(types: &[Type]) -> TokenStream {
    let mut tuple = Group::new(Delimiter::Parenthesis, quote!(#(#types,)*));
    tuple.set_span(types.first().map_or(Span::call_site(), Spanned::span));
    quote!(#tuple)
}

/// A newtype is the key part that it holds.
pub fn key_part(diag: &mut Diag, item: &DeriveInput) -> TokenStream {
    let (_, k) = begin(diag, "key_part", &derive::KEY_PART, item);
    let field = match &item.data {
        Data::Struct(data) if data.fields.len() == 1 => data.fields.members().next(),
        Data::Struct(_) | Data::Enum(_) | Data::Union(_) => None,
    };
    let Some(field) = field else {
        diag.at(&item.ident, format!("a key part of one's own is a newtype: `struct {}(u64);`", item.ident));
        return quote!();
    };
    let ident = &item.ident;
    let keys = [quote!(#ident), quote!(#k::AnyKey)].map(|key| {
        quote! {
            impl #k::IntoKey<#key> for #ident {
                fn write_key(&self, key: &mut #k::KeyText) { #k::KeyPart::write(self, key) }
            }
        }
    });
    quote! {
        impl #k::KeyPart for #ident {
            fn write(&self, key: &mut #k::KeyText) { #k::KeyPart::write(&self.#field, key) }
        }
        #(#keys)*
    }
}
