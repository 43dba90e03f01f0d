//! Where generated code finds the facade.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

/// The facade's path: found by itself when the dependency is renamed, or given by `crate(path)`.
#[derive(Clone)]
pub struct Facade(TokenStream);

impl Facade {
    /// `crate(path)`, else what the manifest says.
    pub fn new(given: Option<&Path>) -> Self {
        Self(given.map_or_else(found, |path| quote!(#path)))
    }

    /// The hidden module.
    pub fn private(&self) -> TokenStream {
        let root = &self.0;
        quote!(#root::__private)
    }

    /// The hidden module as serde's attributes name it, in a string, beside `item`.
    ///
    /// `$crate` of a user's macro cannot stand in a string: it gets a name there.
    pub fn in_a_string(&self, item: &Ident) -> (TokenStream, String) {
        let path = self.private();
        let text = path.to_string().replace(' ', "");
        if !text.contains('$') {
            return (quote!(), text);
        }
        let alias = format_ident!("__{item}Facade");
        (quote!(#[doc(hidden)] use #path as #alias;), alias.to_string())
    }
}

fn found() -> TokenStream {
    match crate_name("gen-durable") {
        Ok(FoundCrate::Name(name)) => {
            let name = format_ident!("{name}");
            quote!(::#name)
        }
        Ok(FoundCrate::Itself) | Err(_) => quote!(::gen_durable),
    }
}
