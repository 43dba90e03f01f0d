//! `impl Step`: how a step is stored, and the rules under which it is entered.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;

use super::{duration, option};
use crate::{
    model::{Amount, AwaitMode, Concurrency, Data, FieldRef, Machine, Rate, Step, Timeout},
    span::{at, borrow, fields},
    validate::stays,
};

pub fn all(m: &Machine) -> TokenStream {
    m.steps.iter().map(|s| step(m, s)).collect()
}

fn step(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, enum_, name, cfgs) = (m.facade.private(), s.ty(), &m.ident, s.stored_name(), &s.cfgs);
    let (encode, decode) = codec(&k, s);
    let (into_machine, entry) = (into_machine(m, s), entry(m, s));
    // A job's struct is its machine too, which says it once.
    let carried = m
        .job
        .is_none()
        .then(|| quote!(#(#cfgs)* impl #k::Carried for #ty { type Carry = <#enum_ as #k::Machine>::Carry; }));
    quote! {
        #(#cfgs)*
        impl #k::Step for #ty {
            type Machine = #enum_;
            const NAME: &'static #k::str = #name;
            fn into_machine(self) -> #enum_ { #into_machine }
            fn encode(&self) -> #k::Result<#k::Json, #k::Invalid> { #encode }
            fn decode(state: &#k::Json) -> #k::Result<Self, #k::Invalid> { #decode }
            #[allow(unused_mut, unused_variables)]
            fn entry(&self, carry: &<#enum_ as #k::Machine>::Carry) -> #k::Result<#k::Entry, #k::Invalid> {
                let mut entry = #k::Entry::plain(#name, #k::Step::encode(self)?);
                #entry
                ::core::result::Result::Ok(entry)
            }
        }
        #carried
    }
}

fn codec(k: &TokenStream, s: &Step) -> (TokenStream, TokenStream) {
    let ty = s.ty();
    match &s.data {
        Data::Unit => {
            (quote!(::core::result::Result::Ok(#k::Json::object())), quote!(::core::result::Result::Ok(Self)))
        }
        Data::Named(_) | Data::Given(_) => (
            quote!(#k::support::object(<#k::Quiet<#ty>>::encode("state", self)?)),
            quote!(<#k::Quiet<#ty>>::decode("state", state)),
        ),
    }
}

fn into_machine(m: &Machine, s: &Step) -> TokenStream {
    let (enum_, ident, fields) = (&m.ident, &s.ident, fields(s));
    match &s.data {
        _ if m.broken => quote!(::core::panic!("the annotation is wrong")),
        Data::Named(_) if m.job.is_some() => quote!(self),
        Data::Named(_) => quote!(let Self #fields = self; #enum_::#ident #fields),
        Data::Unit => quote!(#enum_::#ident),
        Data::Given(_) => quote!(#enum_::#ident(self)),
    }
}

fn entry(m: &Machine, s: &Step) -> TokenStream {
    if m.broken {
        return quote!();
    }
    let k = m.facade.private();
    let (deadline, wait) = (deadline(&k, s), wait(&k, s));
    let (rate, concurrency) = (rate(&k, s), concurrency(m, s));
    let queue = s.options.queue.as_ref().map(|q| quote!(entry.queue = ::core::option::Option::Some(#q);));
    let priority = s.options.priority.as_ref().map(|p| {
        let p = p.value;
        quote!(entry.priority = ::core::option::Option::Some(#p);)
    });
    let shielded = shielded(m, s).then(|| quote!(entry.shielded = true;));
    quote!(#deadline #wait #queue #priority #rate #concurrency #shielded)
}

/// A cancel does not interrupt a shielded step, nor what `on_cancel` leads to, nor the step that another exit leads to.
fn shielded(m: &Machine, s: &Step) -> bool {
    let stays = m.options.on_cancel.as_ref().map(|to| stays(m, to)).unwrap_or_default();
    s.options.shield
        || m.outside_exits().any(|to| *to == s.ident)
        || stays.iter().any(|at| std::ptr::eq(&m.steps[*at], s))
}

fn deadline(k: &TokenStream, s: &Step) -> TokenStream {
    let value = s.options.timeout.as_ref().map(|timeout| match &timeout.value {
        Timeout::After(after) => {
            let after = duration(k, *after);
            quote!(#k::Deadline::After(#after))
        }
        Timeout::AfterField(f) => typed(f, quote!(#k::Duration), quote!(#k::Deadline::After)),
        Timeout::UntilField(f) => typed(f, quote!(#k::Timestamp), quote!(#k::Deadline::At)),
    });
    let value = option(value);
    quote!(let deadline: #k::Option<#k::Deadline> = #value;)
}

/// The field has exactly this type: a mismatch is reported at its name.
fn typed(f: &FieldRef, ty: TokenStream, make: TokenStream) -> TokenStream {
    let value = borrow(f);
    quote!({ let value: &#ty = #value; #make(*value) })
}

fn wait(k: &TokenStream, s: &Step) -> TokenStream {
    let Some(awaits) = &s.options.awaits else {
        return if s.options.join.is_some() { join(k, s) } else { quote!(entry.timer = deadline;) };
    };
    let signals = &awaits.signals;
    let mode = mode(k, awaits.mode);
    quote! {
        entry.wait = ::core::option::Option::Some(#k::Wait {
            names: #k::Cow::Owned(#k::support::names(&[#(<#k::Quiet<#signals>>::SIGNAL_NAMES),*])),
            groups: #k::Cow::Owned(#k::support::groups(&[#(<#k::Quiet<#signals>>::SIGNAL_NAMES),*])),
            mode: #mode,
            deadline,
        });
    }
}

/// As the runtime spells it.
pub fn mode(k: &TokenStream, mode: AwaitMode) -> TokenStream {
    match mode {
        AwaitMode::Any => quote!(#k::AwaitMode::Any),
        AwaitMode::Biased => quote!(#k::AwaitMode::AnyBiased),
        AwaitMode::All => quote!(#k::AwaitMode::All),
        AwaitMode::Count(n) => quote!(#k::AwaitMode::Count(#n)),
    }
}

fn rate(k: &TokenStream, s: &Step) -> TokenStream {
    let Some(Rate { limit, by, weight }) = &s.options.rate_limit else { return quote!() };
    let parts = parts(k, limit, "RateLimit", by);
    let weight = match weight.as_ref().map(|w| &w.value) {
        None => quote!(1),
        Some(Amount::Constant(n)) => quote!(#n as _),
        Some(Amount::Field(f)) => {
            let value = borrow(f);
            quote_spanned!(f.ident.span()=> #k::support::unsigned(#value))
        }
    };
    quote! {
        #parts
        entry.rate = ::core::option::Option::Some(<#k::Quiet<#limit>>::rate_take(parts, #weight));
    }
}

/// A quorum in a field has its type checked at the field's name.
fn join(k: &TokenStream, s: &Step) -> TokenStream {
    let quorum = option(s.options.quorum.as_ref().map(|q| match &q.value {
        Amount::Constant(n) => quote!(#k::support::quorum(#n as _)),
        Amount::Field(f) => {
            let value = borrow(f);
            quote_spanned!(f.ident.span()=> #k::support::quorum(#k::support::unsigned(#value)))
        }
    }));
    quote!(entry.join = ::core::option::Option::Some(#k::Join { quorum: #quorum, deadline });)
}

fn concurrency(m: &Machine, s: &Step) -> TokenStream {
    let k = m.facade.private();
    match s.concurrency(m) {
        Some(Concurrency::On { key, by }) => {
            let parts = parts(&k, key, "ConcurrencyKey", by);
            quote! {
                #parts
                entry.concurrency = ::core::option::Option::Some(<#k::Quiet<#key>>::slot(parts));
            }
        }
        Some(Concurrency::None) | None => quote!(),
    }
}

/// The parts of a key, each checked against the limit's own types at the field's name.
fn parts(k: &TokenStream, limit: &Path, of: &str, by: &[FieldRef]) -> TokenStream {
    let of = quote::format_ident!("{of}");
    if by.is_empty() {
        let parts = quote_spanned!(at(limit)=> #k::support::no_key::<<#limit as #k::#of>::Key>());
        return quote!(let parts = #parts;);
    }
    let values: Vec<TokenStream> = by.iter().map(borrow).collect();
    let mut tuple = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, quote!(#(#values,)*));
    tuple.set_span(by[0].ident.span());
    quote!(let parts: <<#limit as #k::#of>::Key as #k::Key>::Refs<'_> = #tuple;)
}
