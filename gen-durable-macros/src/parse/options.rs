//! `word`, `word = literal`, `word(..)`: one attribute's options, split before any is understood.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::{Token, parse::Parse, parse::Parser};

use crate::{
    diag::{Diag, closest, list},
    span::text,
};

/// The options that an attribute knows, each with the way it is written.
pub struct Table {
    /// The attribute: `#[step]`.
    pub of: &'static str,
    /// Name and spelling.
    pub known: &'static [(&'static str, &'static str)],
    /// Those that may be given more than once.
    pub repeated: &'static [&'static str],
}

/// One option as it was written.
pub struct Opt {
    pub name: Ident,
    /// What was meant: the name, or the known one that is close to it.
    pub word: &'static str,
    pub usage: &'static str,
    pub value: Value,
}

pub enum Value {
    Flag,
    Equals(TokenStream),
    Group(TokenStream),
}

/// Splits `tokens`; unknown and repeated options are errors. A misspelt one still counts as what was meant, so
/// that it is the only error.
pub fn split(diag: &mut Diag, table: &Table, seen: &mut BTreeMap<String, Span>, tokens: TokenStream) -> Vec<Opt> {
    let mut options = vec![];
    for part in at_commas(tokens) {
        if let Some((name, value)) = diag.ok(shape(table, part)) {
            options.extend(understand(diag, table, seen, name, value));
        }
    }
    options
}

fn understand(
    diag: &mut Diag,
    table: &Table,
    seen: &mut BTreeMap<String, Span>,
    name: Ident,
    value: Value,
) -> Option<Opt> {
    let word = text(&name);
    let known = || table.known.iter().map(|(k, _)| *k);
    let meant = closest(&word, known());
    if !known().any(|k| k == word) {
        let hint = meant.map(|k| format!("; did you mean `{k}`?")).unwrap_or_default();
        diag.at(&name, format!("unknown `{}` option `{word}`{hint}\nknown options: {}", table.of, list(known())));
    }
    let (word, usage) = table.known.iter().copied().find(|(k, _)| Some(*k) == meant)?;
    if seen.insert(word.into(), name.span()).is_some() && !table.repeated.contains(&word) {
        diag.at(&name, format!("`{word}` is given twice: keep one"));
        return None;
    }
    Some(Opt { name, word, usage, value })
}

fn at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![vec![]];
    for tree in tokens {
        match &tree {
            TokenTree::Punct(p) if p.as_char() == ',' => parts.push(vec![]),
            _ => parts.last_mut().expect("never empty").push(tree),
        }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts
}

fn shape(table: &Table, part: Vec<TokenTree>) -> syn::Result<(Ident, Value)> {
    let wrong = |span: Span| {
        let text = format!("an option of `{}` is `word`, `word = literal` or `word(..)`", table.of);
        Err(syn::Error::new(span, text))
    };
    let mut part = part.into_iter();
    let name = match part.next() {
        Some(TokenTree::Ident(name)) => name,
        Some(other) => return wrong(other.span()),
        None => return wrong(Span::call_site()),
    };
    match (part.next(), part.next()) {
        (None, _) => Ok((name, Value::Flag)),
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => {
            Ok((name, Value::Group(group.stream())))
        }
        (Some(TokenTree::Punct(p)), Some(first)) if p.as_char() == '=' => {
            Ok((name, Value::Equals(std::iter::once(first).chain(part).collect())))
        }
        (Some(other), _) => wrong(other.span()),
    }
}

/// The parts of `name(first, rest ..)`: `OrderLock, by(order), weight = 2`.
pub fn head_and_rest<T: Parse>(tokens: TokenStream) -> syn::Result<(T, TokenStream)> {
    let parser = |input: syn::parse::ParseStream<'_>| {
        let head = input.parse::<T>()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok((head, input.parse::<TokenStream>()?))
    };
    parser.parse2(tokens)
}

/// Whether a group stands after a word: `all(..)`.
pub fn word_group(tokens: &TokenStream, word: &str) -> Option<Group> {
    let mut trees = tokens.clone().into_iter();
    match (trees.next()?, trees.next()?, trees.next()) {
        (TokenTree::Ident(ident), TokenTree::Group(group), None) if ident == word => Some(group),
        _ => None,
    }
}
