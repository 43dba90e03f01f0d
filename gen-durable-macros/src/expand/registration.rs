//! What is linked into the binary: the machine, and the type that serves it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{info, machine_impl::missing, option, pretty, type_at};
use crate::model::{Machine, Step};

/// `MachineRegistration`.
pub fn machine(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    let (catch, start) = (catch(m), start(m));
    quote! {
        #catch
        #start
        #k::inventory::submit! {
            #k::MachineRegistration {
                info: || <#enum_ as #k::Machine>::INFO,
                type_id: #k::TypeId::of::<#enum_>,
                catch,
                upgrade: #k::support::upgrade::<#enum_>,
                start,
            }
        }
    }
}

/// What becomes of a step that failed for good: by its own `catch`, else by the machine's.
fn catch(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let own = m.steps.iter().filter_map(|s| own_catch(m, s));
    let by_machine = machine_catch(m);
    quote! {
        #[allow(unused_variables)]
        fn catch(stored: #k::Stored, failure: &#k::Failure, attempts: #k::u32)
            -> #k::Option<#k::Result<(#k::Entry, #k::Option<#k::Json>), #k::StepError>> {
            match stored.step.as_str() {
                #(#own)*
                #by_machine
                _ => ::core::option::Option::None,
            }
        }
    }
}

fn names(s: &Step) -> TokenStream {
    let (name, aliases) = (s.stored_name(), &s.options.aliases);
    quote!(#name #(| #aliases)*)
}

fn own_catch(m: &Machine, s: &Step) -> Option<TokenStream> {
    let target = s.options.catch.as_ref()?;
    let (k, ty, to, names, cfgs) = (m.facade.private(), s.ty(), type_at(m, target), names(s), &s.cfgs);
    let call = quote_spanned!(target.span()=> #k::support::caught::<#ty, #to>(stored, failure, attempts));
    Some(quote!(#(#cfgs)* #names => ::core::option::Option::Some(#call),))
}

fn machine_catch(m: &Machine) -> Option<TokenStream> {
    let target = m.options.catch.as_ref()?;
    let caught = |s: &&Step| s.options.catch.is_none() && info::catch(m, s).is_some();
    let names: Vec<TokenStream> = m.steps.iter().filter(caught).map(names).collect();
    let (k, enum_, to) = (m.facade.private(), &m.ident, type_at(m, target));
    let call = quote_spanned!(target.span()=> #k::support::caught_machine::<#enum_, #to>(stored, failure, attempts));
    (!names.is_empty()).then(|| quote!(#(#names)|* => ::core::option::Option::Some(#call),))
}

fn start(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    let starts: Vec<&Step> = m.steps.iter().filter(|s| s.options.start.is_some()).collect();
    let only = option(if let [one] = starts.as_slice() { Some(one.stored_name()) } else { None });
    let arms = starts.iter().map(|s| {
        let (ty, names, cfgs) = (s.ty(), names(s), &s.cfgs);
        quote! {
            #(#cfgs)*
            ::core::option::Option::Some(#names) => #k::support::start_raw::<#ty>(state, carry),
        }
    });
    quote! {
        fn start(step: #k::Option<&#k::str>, state: &#k::str, carry: #k::Option<&#k::str>)
            -> #k::Result<#k::StartSpec, #k::StepError> {
            match step.or(#only) {
                #(#arms)*
                _ => ::core::result::Result::Err(#k::support::no_start::<#enum_>(step)),
            }
        }
    }
}

/// `handler(Shop)`: without an impl the one error is the text of the impl.
pub fn handler(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    if let Some(job) = &m.job {
        let handler = &job.handler;
        return quote!(#k::inventory::submit! { #k::HandlerRegistration::of::<#enum_, #handler>() });
    }
    let Some(handler) = &m.options.handler else { return quote!() };
    let name = pretty(handler);
    let text = missing(m, &name, &format!("`{name}`"));
    let served = quote_spanned!(handler.span()=> <#k::Served<#enum_, #handler>>::IS_SERVED);
    quote_spanned! {handler.span()=>
        const _: () = if !#served { ::core::panic!("{}", #text) };
        #k::inventory::submit! { <#k::Served<#enum_, #handler>>::REGISTRATION }
    }
}
