//! `struct Reserve { .. }`: the data of a step.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Field, LitStr, Token, spanned::Spanned};

use super::respan;
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
    // All at the variant: a name that collides is reported there.
    let (struct_, vis) = (Token![struct](ident.span()), respan(quote!(#vis), ident.span()));
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

/// serde's bounds, taken as given here: `checks` asks for them, once, at the field's type.
fn storable(m: &Machine, f: &Field) -> TokenStream {
    let ty = &f.ty;
    let (ty, k) = (quote!(#ty).to_string(), m.facade.private().to_string().replace(' ', ""));
    if ty.contains('$') {
        // `$crate` of a user's macro cannot be written in a string: serde says what is wrong, in its own words.
        return quote!();
    }
    // The place is the user's, the origin is ours: lints about code of our making stay quiet.
    let span = Span::call_site().located_at(f.ty.span());
    let write = LitStr::new(&format!("for<'x> <{ty} as {k}::Same<'x>>::Type: {k}::serde::Serialize"), span);
    let read = LitStr::new(&format!("for<'x> {ty}: {k}::serde::Deserialize<'x>"), span);
    quote!(#[serde(bound(serialize = #write, deserialize = #read))])
}
