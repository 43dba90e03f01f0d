//! `struct Reserve { .. }`: the data of a step.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote};
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
    // At the variant, for all that is said of the struct; of our making, so that lints stay quiet.
    let here = Span::call_site().located_at(s.ident.span());
    let (alias, private) = m.facade.in_a_string(&s.ident);
    let body = match &s.data {
        Data::Given(_) => return quote!(),
        Data::Unit => Token![;](here).into_token_stream(),
        Data::Named(fields) => {
            let fields = fields.iter().map(|f| field(m, f, &private));
            let mut body = Group::new(Delimiter::Brace, quote!(#(#fields),*));
            body.set_span(here);
            body.into_token_stream()
        }
    };
    let (k, vis, ident, attrs, cfgs) = (m.facade.private(), &m.vis, &s.ident, &s.attrs, &s.cfgs);
    let serde = format!("{private}::serde");
    let alias = (!alias.is_empty()).then(|| quote!(#(#cfgs)* #alias));
    let vis = m.job.as_ref().map_or(vis, |job| &job.vis);
    let (struct_, vis) = (Token![struct](here), respan(quote!(#vis), here));
    let derives = &m.options.derives;
    let docs = attrs::docs(attrs).is_empty().then(|| {
        let text = format!("The data of step `{}`.", text(ident));
        quote!(#[doc = #text])
    });
    quote! {
        #alias
        #docs
        #[derive(#k::Serialize, #k::Deserialize, #(#derives),*)]
        #(#attrs)*
        #[serde(crate = #serde)]
        #[allow(missing_docs, missing_debug_implementations, dead_code, deprecated, unreachable_pub)]
        #vis #struct_ #ident #body
    }
}

fn field(m: &Machine, f: &Field, private: &str) -> TokenStream {
    let attrs = f.attrs.iter().filter(|a| attrs::is_serde(a) || attrs::is_shared(a));
    let (vis, ident, ty) = (&m.vis, &f.ident, &f.ty);
    let bound = (!attrs::replaces_serde(&f.attrs)).then(|| storable(f, private));
    quote!(#bound #(#attrs)* #vis #ident: #ty)
}

/// serde's bounds, taken as given here: `checks` asks for them, once, at the field's type.
fn storable(f: &Field, k: &str) -> TokenStream {
    let ty = &f.ty;
    let ty = quote!(#ty).to_string();
    if ty.contains('$') {
        // `$crate` of a user's macro cannot be written in a string: serde says what is wrong, in its own words.
        return quote!();
    }
    // Where the type stands: one that does not exist is told once.
    let span = f.ty.span();
    let write = LitStr::new(&format!("for<'stored> <{ty} as {k}::Same<'stored>>::Type: {k}::serde::Serialize"), span);
    let read = LitStr::new(&format!("for<'stored> {ty}: {k}::serde::Deserialize<'stored>"), span);
    quote!(#[serde(bound(serialize = #write, deserialize = #read))])
}
