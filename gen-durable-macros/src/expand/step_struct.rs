//! `struct Reserve { .. }`: the data of a step.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Field, LitStr, Token, spanned::Spanned};

use super::pretty;
use crate::{
    attrs,
    model::{Data, Machine, Step},
    span::text,
};

pub fn all(m: &Machine) -> TokenStream {
    m.steps.iter().map(|s| step(m, s)).collect()
}

/// Nothing for `Variant(MyData)`.
pub fn step(m: &Machine, s: &Step) -> TokenStream {
    let body = match &s.data {
        Data::Given(_) => return quote!(),
        Data::Unit => quote!(;),
        Data::Named(fields) => {
            let fields = fields.iter().map(|f| field(m, f));
            quote!({ #(#fields),* })
        }
    };
    let (k, vis, ident, attrs, serde) = (m.facade.private(), &m.vis, &s.ident, &s.attrs, m.facade.serde());
    let struct_ = Token![struct](ident.span());
    let derives = &m.options.derives;
    let docs = attrs::docs(attrs).is_empty().then(|| {
        let text = format!("The data of step `{}`.", text(ident));
        quote!(#[doc = #text])
    });
    quote! {
        #docs
        #(#attrs)*
        #[derive(#k::Serialize, #k::Deserialize, #(#derives),*)]
        #[serde(crate = #serde)]
        #[allow(missing_docs, missing_debug_implementations, dead_code)]
        #vis #struct_ #ident #body
    }
}

fn field(m: &Machine, f: &Field) -> TokenStream {
    let attrs = f.attrs.iter().filter(|a| attrs::is_serde(a) || attrs::is_shared(a));
    let (vis, ident, ty) = (&m.vis, &f.ident, &f.ty);
    let bound = (!attrs::replaces_serde(&f.attrs)).then(|| storable(m, f));
    quote!(#bound #(#attrs)* #vis #ident: #ty)
}

/// A field that cannot be stored is one error, at its type: the bound stands for all that serde would say.
fn storable(m: &Machine, f: &Field) -> TokenStream {
    let (ty, persist) = (pretty(&f.ty), m.facade.private().to_string().replace(' ', ""));
    // The place is the user's, the origin is ours: lints about code of our making stay quiet.
    let span = Span::call_site().located_at(f.ty.span());
    let bound = LitStr::new(&format!("{ty}: {persist}::Persist"), span);
    quote!(#[serde(bound(serialize = #bound, deserialize = #bound))])
}
