//! Collects every error of one macro call, so that all of them are mended in one round.

use std::fmt::Display;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// The errors of one macro call.
#[derive(Default)]
pub struct Diag(Vec<syn::Error>);

impl Diag {
    /// An error at the user's tokens.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    /// An error at one token.
    pub fn at_span(&mut self, span: Span, message: impl Display) {
        self.0.push(syn::Error::new(span, message));
    }

    /// What a parser returned.
    pub fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// The value, or `None` and one error more.
    pub fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|e| self.push(e)).ok()
    }

    /// Whether all is well.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, as code.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.into_iter().map(syn::Error::into_compile_error).collect()
    }

    /// All of them, the first one as the length of an array: the compiler says nothing more about a type that `alias`
    /// is part of.
    pub fn into_wrong_type(self, alias: &Ident) -> TokenStream {
        let mut errors = self.0.into_iter().map(syn::Error::into_compile_error);
        let Some(first) = errors.next() else { return quote!() };
        quote! {
            #[doc(hidden)]
            #[allow(dead_code)]
            type #alias = [(); #first];
            #(#errors)*
        }
    }
}

/// "; did you mean `Ship`?" when a known name is close enough.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, known).map(|k| format!("; did you mean `{k}`?")).unwrap_or_default()
}

/// The known name that was probably meant.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let score = |k: &str| strsim::jaro_winkler(&word.to_lowercase(), &k.to_lowercase());
    known
        .into_iter()
        .map(|k| (score(k), k))
        .filter(|(s, _)| *s > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// `` `a`, `b` ``.
pub fn list<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
