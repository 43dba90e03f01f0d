//! The trait of the handlers, and the dispatch of a run to one of them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Token;

use super::{docs::signature, signals};
use crate::{
    attrs,
    model::{Machine, Step},
    names::method,
};

/// `trait CheckoutSteps`: one method for each step.
pub fn steps_trait(m: &Machine) -> TokenStream {
    let (k, vis, name, enum_) = (m.facade.private(), &m.vis, m.steps_trait(), &m.ident);
    let methods = m.steps.iter().map(|s| declaration(&k, m, s));
    let doc = format!("The handlers of [`{enum_}`]: one method for each step.\n\n```text\n{}\n```", stub(m, "Handler"));
    quote! {
        #[doc = #doc]
        #[allow(missing_docs, clippy::too_many_arguments)]
        #vis trait #name: ::core::marker::Send + ::core::marker::Sync + 'static { #(#methods)* }
    }
}

/// The whole impl, ready to paste.
pub fn stub(m: &Machine, handler: &str) -> String {
    let line = |s: &Step| format!("    {} {{ todo!() }}", signature(m, s));
    let methods: Vec<String> = m.steps.iter().map(line).collect();
    format!("impl {} for {handler} {{\n{}\n}}", m.steps_trait(), methods.join("\n"))
}

fn declaration(k: &TokenStream, m: &Machine, s: &Step) -> TokenStream {
    let (method, ty, docs, cfgs) = (method(&s.ident), s.ty(), attrs::docs(&s.attrs), &s.cfgs);
    let input = input(k, s).map(|(name, ty)| quote!(#name: #ty,));
    let carry = m.options.carry.as_ref().map(|ty| quote!(carry: &mut #ty,));
    let copy = format!("\n\n```text\n{}\n```", signature(m, s));
    // While the annotation is wrong no handler is missing.
    let quiet = m.broken.then(|| quote!({ async { ::core::panic!("the annotation is wrong") } }));
    let end = if m.broken {
        quote!()
    } else {
        let end = Token![;](s.ident.span());
        quote!(#end)
    };
    let allow = m.broken.then(|| quote!(#[allow(unused_variables)]));
    let fn_ = Token![fn](s.ident.span());
    quote! {
        #(#cfgs)* #(#docs)* #[doc = #copy] #allow
        #fn_ #method(&self, step: #ty, #input #carry cx: &#k::StepContext)
            -> impl ::core::future::Future<Output = #k::StepResult<#ty>> + ::core::marker::Send #quiet #end
    }
}

/// What the step waited for: the argument's name and type.
fn input(k: &TokenStream, s: &Step) -> Option<(TokenStream, TokenStream)> {
    if let Some(join) = &s.options.join {
        let machines = &join.value;
        let ty = match machines.as_slice() {
            [one] => quote!(#k::Joined<#one>),
            several => quote!((#(#k::Joined<#several>),*)),
        };
        return Some((quote!(children), ty));
    }
    let awaits = s.options.awaits.as_ref()?;
    Some((quote!(signal), signals::argument(k, s, awaits)))
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
        impl<Handler: #steps_trait> #k::ServedBy<Handler> for #enum_ {
            #[allow(unused_mut, unused_variables)]
            fn run(handler: #k::Arc<Handler>, run: #k::Run) -> #k::RunFuture {
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
            let outcome = <Handler as #steps_trait>::#method(&*handler, step, #input #carry &run.context).await?;
            #k::support::ran::<#ty>(outcome, &carry)
        }
    }
}

fn read(k: &TokenStream, s: &Step) -> Option<TokenStream> {
    if let Some(join) = &s.options.join {
        let joined = join.value.iter().map(|machine| quote!(#k::support::joined::<#machine>(&run.context)));
        return Some(if join.value.len() == 1 { quote!(#(#joined)*) } else { quote!((#(#joined),*)) });
    }
    s.options.awaits.as_ref().map(|awaits| signals::read(k, s, awaits))
}
