//! Generated code that the compiler points at, placed at the user's token.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Path, Token, ext::IdentExt};

use crate::model::{Data, FieldRef, Step};

/// `impl .. { body }` whose keyword and braces stand at `span`.
pub fn impl_at(span: Span, head: TokenStream, body: TokenStream) -> TokenStream {
    let impl_ = Token![impl](span);
    let mut braces = Group::new(Delimiter::Brace, body);
    braces.set_span(span);
    quote!(#impl_ #head #braces)
}

/// `const _: () = check;`, reported at `span`.
pub fn check_at(span: Span, check: TokenStream) -> TokenStream {
    quote_spanned!(Span::call_site().located_at(span)=> const _: () = #check;)
}

/// `function(arguments)` at `span`; the arguments are ours, and in a user's `macro_rules!` only we see them.
pub fn call_at(span: Span, function: TokenStream, arguments: TokenStream) -> TokenStream {
    let mut parentheses = Group::new(Delimiter::Parenthesis, arguments);
    parentheses.set_span(span);
    quote!(#function #parentheses)
}

/// `const _: () = if wrong { panic!(text) };`, reported at `span`.
pub fn refuse_at(span: Span, wrong: TokenStream, text: &str) -> TokenStream {
    let told = quote_spanned!(span=> ::core::panic!("{}", #text));
    quote_spanned!(Span::call_site().located_at(span)=> const _: () = if #wrong { #told };)
}

/// The last segment: what a path is called.
pub fn last(path: &Path) -> Ident {
    path.segments.last().map_or_else(|| Ident::new("_path", Span::call_site()), |s| s.ident.clone())
}

/// The span of what a path is called.
pub fn at(path: &Path) -> Span {
    last(path).span()
}

/// An identifier's text, without `r#`.
pub fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// `&self.field` or `&carry.field`, underlined as the field alone.
pub fn borrow(field: &FieldRef) -> TokenStream {
    let (ident, and) = (&field.ident, Token![&](field.ident.span()));
    let place = if field.carry { quote!(carry.#ident) } else { quote!(self.#ident) };
    let mut group = Group::new(Delimiter::Parenthesis, place);
    group.set_span(ident.span());
    quote!(#and #group)
}

/// A variable of ours that stands among the user's names: neither sees the other.
pub fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A pattern or a literal with every field of a step: `{ a, b }`, `(data)` or nothing.
pub fn fields(step: &Step) -> TokenStream {
    match &step.data {
        Data::Named(fields) => {
            let fields = fields.iter().map(|f| {
                let (cfgs, ident) = (crate::attrs::cfgs(&f.attrs), &f.ident);
                quote!(#(#cfgs)* #ident)
            });
            quote!({ #(#fields),* })
        }
        Data::Unit => quote!(),
        Data::Given(_) => quote!((data)),
    }
}
