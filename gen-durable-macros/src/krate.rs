//! Where generated code finds the facade.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
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

    /// serde's `crate = ".."`.
    pub fn serde(&self) -> String {
        let path = self.private();
        quote!(#path::serde).into_token_stream().to_string().replace(' ', "")
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
