//! Names: what is stored, and what a handler is called.

use heck::ToSnakeCase;
use proc_macro2::Ident;

use crate::span::text;

/// The default stored name.
pub fn stored(ident: &Ident) -> String {
    text(ident).to_snake_case()
}

/// The handler of a step; a keyword gets `_`.
pub fn method(step: &Ident) -> Ident {
    let name = stored(step);
    let keyword = name == "gen" || syn::parse_str::<Ident>(&name).is_err();
    Ident::new(&if keyword { format!("{name}_") } else { name }, step.span())
}

/// Why a name cannot be stored: 1 to 200 bytes, no control characters, no `:`.
pub fn problem(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("a stored name has 1 to 200 bytes"),
        n if n.len() > 200 => Some("a stored name has 1 to 200 bytes"),
        n if n.chars().any(char::is_control) => Some("a stored name has no control characters"),
        n if n.contains(':') => Some("a stored name has no `:`: it separates the name from a key"),
        _ => None,
    }
}
