//! What is linked into the binary: the machine, and the type that serves it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, spanned::Spanned};

use super::{info, machine_impl::missing, option, pretty, type_at};
use crate::{
    model::{Machine, Step},
    span::call_at,
    span::refuse_at,
    validate::stays,
};

/// `MachineRegistration`.
pub fn machine(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    let (catch, exit, start, slot) = (catch(m), exit(m), start(m), slot(m));
    quote! {
        #catch
        #exit
        #start
        #slot
        #k::inventory::submit! {
            #k::MachineRegistration {
                info: || <#enum_ as #k::Machine>::INFO,
                type_id: #k::TypeId::of::<#enum_>,
                catch,
                exit,
                upgrade: #k::support::upgrade::<#enum_>,
                enter: #k::support::enter::<#enum_>,
                start,
                slot,
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
    let function = quote_spanned!(target.span()=> #k::support::caught::<#ty, #to>);
    let call = call_at(target.span(), function, quote!(stored, failure, attempts));
    Some(quote!(#(#cfgs)* #names => ::core::option::Option::Some(#call),))
}

fn machine_catch(m: &Machine) -> Option<TokenStream> {
    let target = m.options.catch.as_ref()?;
    let caught = |s: &&Step| s.options.catch.is_none() && info::catch(m, s).is_some();
    let names: Vec<TokenStream> = m.steps.iter().filter(caught).map(names).collect();
    let (k, enum_, to) = (m.facade.private(), &m.ident, type_at(m, target));
    let function = quote_spanned!(target.span()=> #k::support::caught_machine::<#enum_, #to>);
    let call = call_at(target.span(), function, quote!(stored, failure, attempts));
    (!names.is_empty()).then(|| quote!(#(#names)|* => ::core::option::Option::Some(#call),))
}

/// What the machine's exits make of a row, unless its step is exempt.
fn exit(m: &Machine) -> TokenStream {
    let (k, o, enum_) = (m.facade.private(), &m.options, &m.ident);
    let entered = |to: &Ident, call: TokenStream| {
        let exempt: Vec<TokenStream> = stays(m, to).into_iter().map(|i| names(&m.steps[i])).collect();
        quote! {
            match stored.step.as_str() {
                #(#exempt)|* => ::core::option::Option::None,
                _ => ::core::option::Option::Some(#call),
            }
        }
    };
    let by = |pattern: TokenStream, function: TokenStream, to: &Ident| {
        let ty = type_at(m, to);
        let function = quote_spanned!(to.span()=> #k::support::#function::<#enum_, #ty>);
        let call = entered(to, call_at(to.span(), function, quote!(stored)));
        quote!(#pattern => #call,)
    };
    let cancel = o.on_cancel.iter().map(|to| by(quote!(#k::Exit::Cancel), quote!(cancelled), to));
    let deadline = o.on_deadline.iter().map(|to| by(quote!(#k::Exit::Deadline), quote!(expired), to));
    let signals = o.on.iter().map(|(signal, to)| {
        let ty = type_at(m, to);
        let function = quote_spanned!(to.span()=> #k::support::signalled::<#enum_, #signal, #ty>);
        let call = entered(to, call_at(to.span(), function, quote!(stored, signal)));
        quote! {
            if let ::core::option::Option::Some(signal) = <#k::Quiet<#signal>>::receive(name, payload) {
                return #call;
            }
        }
    });
    quote! {
        #[allow(unused_variables, unreachable_patterns)]
        fn exit(stored: #k::Stored, exit: #k::Exit<'_>)
            -> #k::Option<#k::Result<(#k::Entry, #k::Option<#k::Json>), #k::StepError>> {
            match exit {
                #(#cancel)*
                #(#deadline)*
                #k::Exit::Signal(name, payload) => {
                    #(#signals)*
                    ::core::option::Option::None
                }
                _ => ::core::option::Option::None,
            }
        }
    }
}

/// The start of a schedule's slot.
fn slot(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let arms = m.steps.iter().filter_map(|s| {
        let (schedule, ty, names, cfgs) = (s.options.schedule.as_ref()?, s.ty(), names(s), &s.cfgs);
        let ty = super::respan(quote!(#ty), schedule.span);
        let function = quote_spanned!(schedule.span=> #k::support::slot::<#ty>);
        let call = call_at(schedule.span, function, quote!(at));
        Some(quote!(#(#cfgs)* #names => ::core::option::Option::Some(#call),))
    });
    quote! {
        #[allow(unused_variables)]
        fn slot(step: &#k::str, at: #k::Timestamp) -> #k::Option<#k::Result<#k::StartSpec, #k::StepError>> {
            match step {
                #(#arms)*
                _ => ::core::option::Option::None,
            }
        }
    }
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
    let text = missing(m).join(&pretty(handler));
    let check = refuse_at(handler.span(), quote!(!<#k::Served<#enum_, #handler>>::IS_SERVED), &text);
    quote_spanned! {handler.span()=>
        #check
        #k::inventory::submit! { <#k::Served<#enum_, #handler>>::REGISTRATION }
    }
}
