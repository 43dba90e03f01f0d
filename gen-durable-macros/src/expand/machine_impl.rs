//! `impl Machine`: how rows of the machine are read and written.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{handlers::stub, info, respan};
use crate::{
    model::{Data, Machine, Step},
    span::{at, fields, local},
};

pub fn machine(m: &Machine) -> TokenStream {
    let (k, enum_, name, version) = (m.facade.private(), &m.ident, m.stored_name(), m.version());
    let (info, output, carry) = (info::machine(m), output(m), carry_type(m));
    let has_carry = m.options.carry.is_some();
    let missing = missing(m);
    let (load, load_version, entry, carries) = (load(m), load_version(m), into_entry(m), carries(m));
    quote! {
        impl #k::Carried for #enum_ { type Carry = #carry; }
        impl #k::Machine for #enum_ {
            const NAME: &'static #k::str = #name;
            const VERSION: #k::i32 = #version;
            const INFO: &'static #k::MachineInfo = &#info;
            const STEPS_IMPL: &'static [&'static #k::str] = &[#(#missing),*];
            const HAS_CARRY: #k::bool = #has_carry;
            type Output = #output;
            type Carry = #carry;
            #load
            #load_version
            #entry
            #carries
            fn load_output(result: &#k::Json) -> #k::Result<#output, #k::Invalid> {
                <#k::Quiet<#output>>::decode("result", result)
            }
            fn store_output(output: &#output) -> #k::Result<#k::Json, #k::Invalid> {
                <#k::Quiet<#output>>::encode("result", output)
            }
        }
    }
}

/// What is said of a type without the handlers; the type stands between the parts.
pub fn missing(m: &Machine) -> Vec<String> {
    if m.broken || m.job.is_some() {
        return vec![];
    }
    let does_not = format!("` does not implement the steps of machine `{}`; write\n\n", m.ident);
    let (head, methods) = stub(m);
    vec!["`".into(), does_not + &head, methods + "\n"]
}

pub fn output(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    match (&m.job, &m.options.output) {
        (None, _) if m.broken => m.unknown().into_token_stream(),
        (Some(job), _) => match job.output() {
            Some(output) => quote!(#output),
            None => {
                let returns = &job.returns;
                quote!(<#returns as #k::JobReturn>::Output)
            }
        },
        (None, Some(ty)) => quote!(#ty),
        (None, None) => quote!(()),
    }
}

fn carry_type(m: &Machine) -> TokenStream {
    if m.broken && m.options.carry.is_some() {
        return m.unknown().into_token_stream();
    }
    m.options.carry.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty))
}

fn load(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    let arms = m.steps.iter().map(|s| {
        let (ty, name, aliases, cfgs) = (s.ty(), s.stored_name(), &s.options.aliases, &s.cfgs);
        quote! {
            #(#cfgs)*
            #name #(| #aliases)* => {
                ::core::result::Result::Ok(#k::Step::into_machine(<#ty as #k::Step>::decode(state)?))
            }
        }
    });
    // Names that collide are an error already, not an unreachable pattern too.
    quote! {
        #[allow(unreachable_patterns)]
        fn load(step: &#k::str, state: &#k::Json) -> #k::Result<Self, #k::Invalid> {
            match step {
                #(#arms)*
                other => ::core::result::Result::Err(#k::support::no_step::<#enum_>(other)),
            }
        }
    }
}

fn load_version(m: &Machine) -> TokenStream {
    let (k, enum_, version) = (m.facade.private(), &m.ident, m.version());
    let older = match m.options.from.as_ref().filter(|_| !m.broken) {
        Some(old) => {
            let this = respan(quote!(#enum_), at(old));
            quote! {
                ::core::result::Result::Ok(
                    <#this as #k::Upgrades<#old>>::upgraded(
                        <#k::Quiet<#old>>::load_version(version, step, state)?
                    )
                )
            }
        }
        None => quote!(::core::result::Result::Err(#k::support::no_version::<#enum_>(version))),
    };
    quote! {
        fn load_version(version: #k::i32, step: &#k::str, state: &#k::Json) -> #k::Result<Self, #k::Invalid> {
            if version == #version { return Self::load(step, state); }
            #older
        }
    }
}

fn into_entry(m: &Machine) -> TokenStream {
    let (k, carry) = (m.facade.private(), local("carry"));
    let body = if m.broken {
        quote!({
            let _ = #carry;
            ::core::panic!("the annotation is wrong")
        })
    } else if m.job.is_some() {
        quote!(#k::Step::entry(&self, #carry))
    } else if m.steps.is_empty() {
        quote!(match self {})
    } else {
        let arms = m.steps.iter().map(|s| entry_arm(m, s));
        quote!(match self { #(#arms)* })
    };
    quote! {
        fn into_entry(self, #carry: &<Self as #k::Machine>::Carry) -> #k::Result<#k::Entry, #k::Invalid> { #body }
    }
}

fn entry_arm(m: &Machine, s: &Step) -> TokenStream {
    let (k, ident, fields, cfgs, carry) = (m.facade.private(), &s.ident, fields(s), &s.cfgs, local("carry"));
    let data = match &s.data {
        Data::Named(_) | Data::Unit => quote!(#ident #fields),
        Data::Given(_) => quote!(data),
    };
    quote!(#(#cfgs)* Self::#ident #fields => #k::Step::entry(&#data, #carry),)
}

/// How the carry is read and written.
fn carries(m: &Machine) -> TokenStream {
    let (k, version) = (m.facade.private(), m.version());
    let Some(_) = &m.options.carry else {
        return quote! {
            fn load_carry(_: #k::i32, _: #k::Option<&#k::Json>) -> #k::Result<(), #k::Invalid> {
                ::core::result::Result::Ok(())
            }
            fn store_carry(_: &()) -> #k::Result<#k::Option<#k::Json>, #k::Invalid> {
                ::core::result::Result::Ok(::core::option::Option::None)
            }
            fn default_carry() -> #k::Option<()> { ::core::option::Option::Some(()) }
        };
    };
    let ty = carry_type(m);
    let older = m.options.from.as_ref().filter(|_| !m.broken).map(|old| {
        let ty = respan(quote!(#ty), at(old));
        quote!(if version != #version { return <#k::Quiet<#old>>::convert_carry::<#ty>(version, carry); })
    });
    quote! {
        fn load_carry(version: #k::i32, carry: #k::Option<&#k::Json>) -> #k::Result<#ty, #k::Invalid> {
            #older
            let _ = version;
            #k::support::read_carry(carry, <#k::Quiet<#ty>>::decode, <#k::Quiet<#ty>>::default_value)
        }
        fn store_carry(carry: &#ty) -> #k::Result<#k::Option<#k::Json>, #k::Invalid> {
            ::core::result::Result::Ok(::core::option::Option::Some(<#k::Quiet<#ty>>::encode("carry", carry)?))
        }
        fn default_carry() -> #k::Option<#ty> { <#k::Quiet<#ty>>::default_value() }
    }
}
