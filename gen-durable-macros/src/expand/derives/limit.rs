//! `RateLimit` and `ConcurrencyKey`.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Fields, Type, spanned::Spanned};

use super::{
    super::{duration, option},
    begin, name,
};
use crate::{diag::Diag, parse::derive};

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
    let (limit, shards) =
        (option(options.limit.as_ref().map(|l| l.value)), options.shards.as_ref().map_or(1, |s| s.value));
    let (ident, name, key, held) = (&item.ident, name(&options, item), key(&options.key), options.held.is_some());
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
