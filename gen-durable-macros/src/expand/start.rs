//! Start steps, and the business key of the machine.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::{
    model::{BusinessKey, Data, Machine, Step},
    span::{borrow, call_at, impl_at},
};

pub fn all(m: &Machine) -> TokenStream {
    let is_start = |s: &&Step| m.broken || s.options.start.is_some();
    let starts = m.steps.iter().filter(is_start).map(|s| start(m, s));
    let keyed = keyed(m);
    quote!(#(#starts)* #keyed)
}

fn start(m: &Machine, s: &Step) -> TokenStream {
    let (k, ty, cfgs) = (m.facade.private(), s.ty(), &s.cfgs);
    let key = s.options.key.as_ref().filter(|_| !m.broken).map(|key| business_key(m, key));
    let span = s.options.start.unwrap_or_else(|| s.ident.span());
    let imp = impl_at(span, quote!(#k::StartStep for #ty), quote!(#key));
    quote!(#(#cfgs)* #imp)
}

fn business_key(m: &Machine, key: &BusinessKey) -> TokenStream {
    let (k, enum_, kept) = (m.facade.private(), &m.ident, key.kept);
    let parts = key.fields.iter().map(|f| {
        let value = borrow(f);
        let (span, write) = (f.ident.span(), quote_spanned!(f.ident.span()=> #k::KeyPart::write));
        let call = call_at(span, write, quote!(#value, &mut key));
        quote!(#call;)
    });
    quote! {
        #[allow(unused_variables)]
        fn business_key(&self, carry: &<#enum_ as #k::Machine>::Carry)
            -> #k::Option<(#k::String, #k::bool)> {
            let mut key = #k::KeyText::new(<#enum_ as #k::Machine>::NAME);
            #(#parts)*
            ::core::option::Option::Some((key.finish(), #kept))
        }
    }
}

/// `impl Keyed`: one key type, of the first start step that has a key.
fn keyed(m: &Machine) -> TokenStream {
    let Some((s, key)) = m.steps.iter().find_map(|s| Some((s, s.options.key.as_ref()?))) else { return quote!() };
    let (k, enum_, cfgs) = (m.facade.private(), &m.ident, &s.cfgs);
    let types: Vec<TokenStream> = key.fields.iter().map(|f| part_type(&k, s, f)).collect();
    let ty = if let [one] = types.as_slice() { quote!(#one) } else { quote!((#(#types),*)) };
    quote! {
        #(#cfgs)*
        impl #k::Keyed for #enum_ {
            type Key = #ty;
            fn business_key<__Given: #k::IntoKey<#ty>>(given: __Given) -> #k::String {
                let mut key = #k::KeyText::new(<#enum_ as #k::Machine>::NAME);
                #k::IntoKey::<#ty>::write_key(&given, &mut key);
                key.finish()
            }
        }
    }
}

/// What the annotation cannot see, any key part can address.
fn part_type(k: &TokenStream, s: &Step, field: &crate::model::FieldRef) -> TokenStream {
    let seen = match &s.data {
        Data::Named(fields) if !field.carry => fields.iter().find(|f| f.ident.as_ref() == Some(&field.ident)),
        Data::Named(_) | Data::Unit | Data::Given(_) => None,
    };
    seen.map_or_else(
        || quote!(#k::AnyKey),
        |f| {
            let ty = &f.ty;
            quote!(#ty)
        },
    )
}
