//! Which attribute goes where: to the enum, to the step structs, or to all that is generated.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Moves to the step struct: `#[serde(..)]`, and `#[cfg_attr(.., serde(..))]`.
pub fn is_serde(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || (attr.path().is_ident("cfg_attr") && names(tokens(attr), &["serde"]))
}

fn tokens(attr: &Attribute) -> TokenStream {
    attr.meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default()
}

/// Whether one of the words stands among the tokens.
fn names(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => words.iter().any(|word| ident == word),
        TokenTree::Group(group) => names(group.stream(), words),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Goes to the enum and to the struct.
pub fn is_shared(attr: &Attribute) -> bool {
    ["doc", "cfg", "cfg_attr", "allow", "warn", "expect", "deny", "deprecated"].iter().any(|n| attr.path().is_ident(n))
}

/// The conditions something is compiled under.
pub fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|a| a.path().is_ident("cfg")).cloned().collect()
}

/// The doc comments.
pub fn docs(attrs: &[Attribute]) -> Vec<&Attribute> {
    attrs.iter().filter(|a| a.path().is_ident("doc")).collect()
}

/// The first line of the doc comment.
pub fn first_line(attrs: &[Attribute]) -> String {
    let text = |attr: &Attribute| match &attr.meta {
        Meta::NameValue(meta) => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    };
    docs(attrs).into_iter().filter_map(text).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Whether serde does something else with this field than `Serialize` and `Deserialize` of its type.
pub fn replaces_serde(attrs: &[Attribute]) -> bool {
    const WORDS: [&str; 9] = [
        "with",
        "serialize_with",
        "deserialize_with",
        "skip",
        "skip_serializing",
        "skip_deserializing",
        "bound",
        "getter",
        "remote",
    ];
    attrs.iter().filter(|a| is_serde(a)).any(|a| names(tokens(a), &WORDS))
}
