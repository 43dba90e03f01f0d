//! The trait of the handlers, and the dispatch of a run to one of them.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Token, spanned::Spanned};

use super::{docs::signature, receive, respan, signals};
use crate::{
    attrs,
    model::{Machine, Step},
    names::method,
};

/// `trait CheckoutSteps`: one method for each step.
pub fn steps_trait(m: &Machine) -> TokenStream {
    let (k, vis, name, enum_) = (m.facade.private(), &m.vis, m.steps_trait(), &m.ident);
    let mut names = BTreeSet::new();
    let methods = m.steps.iter().chain(&m.collided).filter(|s| names.insert(method(&s.ident)));
    let methods: Vec<TokenStream> = methods.map(|s| declaration(&k, m, s)).collect();
    let stub = if m.broken { String::new() } else { <[String; 2]>::from(stub(m)).join("Handler") };
    let doc = format!("The handlers of [`{enum_}`]: one method for each step.\n\n```text\n{stub}\n```");
    quote! {
        #[doc = #doc]
        #[allow(missing_docs, private_interfaces, deprecated, clippy::too_many_arguments)]
        #vis trait #name: ::core::marker::Send + ::core::marker::Sync + 'static { #(#methods)* }
    }
}

/// The whole impl, ready to paste: what stands before the handler's type, and after it.
pub fn stub(m: &Machine) -> (String, String) {
    let line = |s: &Step| format!("    {} {{ todo!() }}", signature(m, s));
    let methods: Vec<String> = m.steps.iter().map(line).collect();
    (format!("impl {} for ", m.steps_trait()), format!(" {{\n{}\n}}", methods.join("\n")))
}

/// Placed at the variant: a method that is missing is told there.
fn declaration(k: &TokenStream, m: &Machine, s: &Step) -> TokenStream {
    let (method, ty, docs, cfgs) = (method(&s.ident), s.ty(), attrs::docs(&s.attrs), &s.cfgs);
    let (fn_, arguments) = (Token![fn](s.ident.span()), arguments(k, m, s));
    let copy = (!m.broken).then(|| {
        let text = format!("\n\n```text\n{}\n```", signature(m, s));
        quote!(#[doc = #text])
    });
    let unknown = m.unknown();
    let here = Span::call_site().located_at(s.ident.span());
    let k = respan(k.clone(), here);
    let result = if m.broken { quote!(#unknown) } else { quote_spanned!(here=> #k::StepResult<#ty>) };
    let result = quote_spanned!(here=> impl ::core::future::Future<Output = #result> + ::core::marker::Send);
    let end = if m.broken { absent() } else { Token![;](s.ident.span()).into_token_stream() };
    quote!(#(#cfgs)* #(#docs)* #copy #[allow(unused_variables)] #fn_ #method(#arguments) -> #result #end)
}

/// While the annotation is wrong no handler is missing.
fn absent() -> TokenStream {
    quote!({ async { ::core::panic!("the annotation is wrong") } })
}

/// What a handler receives, placed at the words of the annotation that ask for it.
fn arguments(k: &TokenStream, m: &Machine, s: &Step) -> TokenStream {
    let (o, ty, unknown) = (&s.options, s.ty(), m.unknown());
    let waited = o.awaits.as_ref().map(|a| a.span).or(o.join.as_ref().map(|j| j.span));
    let at = waited.or(m.options.carry.as_ref().map(Spanned::span)).unwrap_or(s.ident.span());
    let (at, k) = (Span::call_site().located_at(at), respan(k.clone(), at));
    let input = input(&k, s, at).map(|(name, ty)| {
        let ty = if m.broken { quote!(#unknown) } else { ty };
        quote!(#name: #ty,)
    });
    let carry = m.options.carry.as_ref().map(|ty| {
        let and = Token![&](Span::call_site().located_at(ty.span()));
        if m.broken { quote!(carry: &mut #unknown,) } else { quote!(carry: #and mut #ty,) }
    });
    let (this, context) = (quote_spanned!(at=> &self), quote_spanned!(at=> &#k::StepContext));
    let ty = if m.broken { quote!(#unknown) } else { quote!(#ty) };
    quote!(#this, step: #ty, #input #carry cx: #context)
}

/// What the step waited for: the argument's name and type. Of a wrong annotation the type may be unknown.
fn input(k: &TokenStream, s: &Step, at: Span) -> Option<(TokenStream, TokenStream)> {
    if let Some(join) = &s.options.join {
        let machines = &join.value;
        let ty = match machines.as_slice() {
            [one] => quote_spanned!(at=> #k::Joined<#one>),
            several => quote_spanned!(at=> (#(#k::Joined<#several>),*)),
        };
        return Some((quote!(children), ty));
    }
    let awaits = s.options.awaits.as_ref()?;
    let known = !awaits.signals.is_empty();
    Some((quote!(signal), if known { signals::argument(k, s, awaits, at) } else { quote!(()) }))
}

/// `impl ServedBy`: runs a step on whoever has the handlers.
pub fn served(m: &Machine) -> TokenStream {
    let (k, enum_, steps_trait) = (m.facade.private(), &m.ident, m.steps_trait());
    if m.broken {
        let text = "the annotation is wrong";
        return quote! {
            impl<Handler> #k::ServedBy<Handler> for #enum_ {
                fn run(_: #k::Arc<Handler>, _: #k::Run) -> #k::RunFuture { ::core::panic!(#text) }
            }
        };
    }
    let arms = m.steps.iter().map(|s| arm(&k, m, s));
    quote! {
        impl<__Handler: #steps_trait> #k::ServedBy<__Handler> for #enum_ {
            #[allow(unused_mut, unused_variables)]
            fn run(handler: #k::Arc<__Handler>, run: #k::Run) -> #k::RunFuture {
                #k::Box::pin(async move {
                    let mut carry = #k::support::carry::<#enum_>(&run)?;
                    match run.step {
                        #(#arms)*
                        other => ::core::result::Result::Err(
                            #k::StepError::undecodable(#k::support::no_step::<#enum_>(other))
                        ),
                    }
                })
            }
        }
    }
}

fn arm(k: &TokenStream, m: &Machine, s: &Step) -> TokenStream {
    let (ty, steps_trait, method, cfgs) = (s.ty(), m.steps_trait(), method(&s.ident), &s.cfgs);
    let (name, aliases) = (s.stored_name(), &s.options.aliases);
    let read = read(k, s);
    let input = read.as_ref().map(|_| quote!(input,));
    let read = read.map(|read| quote!(let input = #read;));
    let carry = m.options.carry.as_ref().map(|_| quote!(&mut carry,));
    quote! {
        #(#cfgs)*
        #name #(| #aliases)* => {
            let step = #k::support::step::<#ty>(&run)?;
            #read
            let outcome = <__Handler as #steps_trait>::#method(&*handler, step, #input #carry &run.context).await?;
            #k::support::ran::<#ty>(outcome, &carry)
        }
    }
}

fn read(k: &TokenStream, s: &Step) -> Option<TokenStream> {
    if let Some(join) = &s.options.join {
        let joined = join.value.iter().map(|machine| quote!(#k::support::joined::<#machine>(&run.context)));
        return Some(if join.value.len() == 1 { quote!(#(#joined)*) } else { quote!((#(#joined),*)) });
    }
    s.options.awaits.as_ref().map(|awaits| receive::read(k, s, awaits))
}
