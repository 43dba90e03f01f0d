//! How a handler's argument is read from what woke the step.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Path;

use super::signals::{all_fields, received, signal_type};
use crate::{
    model::{Await, AwaitMode, Step},
    span::last,
};

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
    let got = received(s, awaits, Span::call_site());
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
