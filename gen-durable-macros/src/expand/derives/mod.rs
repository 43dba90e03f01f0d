//! `Signal`, `Signals`, `RateLimit`, `ConcurrencyKey`, `KeyPart`: declared once, used by type.

mod limit;
mod signal;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, LitStr};

use crate::{
    diag::Diag,
    krate::Facade,
    names::stored,
    parse::{Table, derive},
};

pub use limit::{concurrency_key, rate_limit};
pub use signal::{signal, signals};

type Options = derive::DeriveOptions;

fn begin(diag: &mut Diag, attr: &str, table: &Table, item: &DeriveInput) -> (Options, TokenStream) {
    let options = derive::options(diag, attr, table, &item.attrs);
    let k = Facade::new(options.facade.as_ref()).private();
    (options, k)
}

fn name(options: &Options, item: &DeriveInput) -> LitStr {
    options.name.clone().unwrap_or_else(|| LitStr::new(&stored(&item.ident), item.ident.span()))
}

/// A newtype is the key part that it holds.
pub fn key_part(diag: &mut Diag, item: &DeriveInput) -> TokenStream {
    let (_, k) = begin(diag, "key_part", &derive::KEY_PART, item);
    let field = match &item.data {
        Data::Struct(data) if data.fields.len() == 1 => data.fields.members().next(),
        Data::Struct(_) | Data::Enum(_) | Data::Union(_) => None,
    };
    let Some(field) = field else {
        diag.at(&item.ident, format!("a key part of one's own is a newtype: `struct {}(u64);`", item.ident));
        return quote!();
    };
    let ident = &item.ident;
    let keys = [quote!(#ident), quote!(#k::AnyKey)].map(|key| {
        quote! {
            impl #k::IntoKey<#key> for #ident {
                fn write_key(&self, key: &mut #k::KeyText) { #k::KeyPart::write(self, key) }
            }
        }
    });
    quote! {
        impl #k::KeyPart for #ident {
            fn write(&self, key: &mut #k::KeyText) { #k::KeyPart::write(&self.#field, key) }
        }
        #(#keys)*
    }
}
