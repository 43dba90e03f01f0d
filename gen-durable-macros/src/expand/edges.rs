//! What a step may do: one impl for each word of the annotation, placed at that word.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Path;

use super::type_at;
use crate::{
    model::{Machine, Step},
    span::{at, impl_at},
};

pub fn all(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    let steps = m.steps.iter().map(|s| if m.broken { open(m, s) } else { step(m, s) });
    // A `goto` of the enum is told once: no step has a transition to it.
    let whole = m.job.is_none().then(|| quote!(impl #k::EnteredByGoto for #enum_ {} impl #k::Unparked for #enum_ {}));
    quote!(#whole #(#steps)*)
}

fn step(m: &Machine, s: &Step) -> TokenStream {
    let (next, ends, entered) = (next(m, s), ends(m, s), entered(m, s));
    let (children, spawns) = (children(m, s), spawns(m, s));
    quote!(#next #ends #entered #children #spawns)
}

fn next(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, enum_) = (m.facade.private(), s.ty(), &m.ident);
    let edge = |target| {
        let (to, cfgs) = (type_at(m, target), m.step(target).map(|t| &t.cfgs).into_iter().flatten().chain(&s.cfgs));
        let arrive = quote!(fn arrive(to: #to) -> #enum_ { #k::Step::into_machine(to) });
        let edge = impl_at(target.span(), quote!(#k::Transition<#to> for #ty), arrive);
        quote!(#(#cfgs)* #edge)
    };
    s.options.next.iter().map(edge).collect()
}

fn ends(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, cfgs) = (m.facade.private(), s.ty(), &s.cfgs);
    let done = s.options.done.map(|span| impl_at(span, quote!(#k::Ends for #ty), quote!()));
    let fail = s.options.fail.map(|span| impl_at(span, quote!(#k::MayFail for #ty), quote!()));
    [done, fail].into_iter().flatten().map(|imp| quote!(#(#cfgs)* #imp)).collect()
}

fn entered(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, cfgs, span) = (m.facade.private(), s.ty(), &s.cfgs, s.ident.span());
    if let Some(join) = &s.options.join {
        let join = impl_at(join.span, quote!(#k::JoinStep for #ty), quote!());
        return quote!(#(#cfgs)* #join);
    }
    let by_goto = impl_at(span, quote!(#k::EnteredByGoto for #ty), quote!());
    let waits = s.options.awaits.is_some() || s.options.timeout.is_some();
    let unparked = (!waits).then(|| {
        let unparked = impl_at(span, quote!(#k::Unparked for #ty), quote!());
        quote!(#(#cfgs)* #unparked)
    });
    quote!(#(#cfgs)* #by_goto #unparked)
}

fn children(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, cfgs) = (m.facade.private(), s.ty(), &s.cfgs);
    let joined = s.options.join.iter().flat_map(|j| &j.value);
    let child = |machine| {
        let child = impl_at(made_at(machine), quote!(#k::ChildOf<#ty> for #machine), quote!());
        quote!(#(#cfgs)* #child)
    };
    joined.map(child).collect()
}

fn spawns(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, cfgs) = (m.facade.private(), s.ty(), &s.cfgs);
    let spawn = |machine| {
        let spawn = impl_at(made_at(machine), quote!(#k::Spawns<#machine> for #ty), quote!());
        quote!(#(#cfgs)* #spawn)
    };
    s.options.spawn.iter().map(spawn).collect()
}

/// At the machine's name, and of our making: of a name that does not exist the compiler makes no parameter.
fn made_at(machine: &Path) -> Span {
    Span::call_site().located_at(at(machine))
}

/// While the annotation is wrong every step may do everything: the handlers are not to blame.
fn open(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, enum_, cfgs) = (m.facade.private(), s.ty(), &m.ident, &s.cfgs);
    let all = ["Ends", "MayFail", "EnteredByGoto", "Unparked", "JoinStep", "OpenJoin"].map(|name| {
        let name = quote::format_ident!("{name}");
        quote!(#(#cfgs)* impl #k::#name for #ty {})
    });
    quote! {
        #(#all)*
        #(#cfgs)*
        impl<Any> #k::Spawns<Any> for #ty {}
        #(#cfgs)*
        impl<To: #k::Step<Machine = #enum_>> #k::Transition<To> for #ty {
            fn arrive(to: To) -> #enum_ { #k::Step::into_machine(to) }
        }
    }
}
