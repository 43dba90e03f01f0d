//! `word`, `word = literal`, `word(..)`: one attribute's options, split before any is understood.

use std::{collections::BTreeMap, time::Duration};

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::{Lit, LitStr, Token, parse::Parse, parse::Parser, punctuated::Punctuated};

use super::duration::duration;
use crate::{
    diag::{Diag, closest, list},
    model::{At, FieldRef},
    names,
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

impl Opt {
    /// The option is written in another way.
    pub fn misused<T>(&self) -> syn::Result<T> {
        Err(syn::Error::new(self.name.span(), format!("`{}` is written {}", self.word, self.usage)))
    }

    /// `word`.
    pub fn flag(&self) -> syn::Result<Span> {
        match self.value {
            Value::Flag => Ok(self.name.span()),
            Value::Equals(_) | Value::Group(_) => self.misused(),
        }
    }

    fn literal(&self) -> syn::Result<Lit> {
        let Value::Equals(tokens) = &self.value else { return self.misused() };
        syn::parse2::<Lit>(tokens.clone()).or_else(|_| self.misused())
    }

    /// `word = ".."`.
    pub fn string(&self) -> syn::Result<LitStr> {
        match self.literal()? {
            Lit::Str(lit) => Ok(lit),
            _ => self.misused(),
        }
    }

    /// A name that can be stored.
    pub fn stored_name(&self) -> syn::Result<LitStr> {
        let lit = self.string()?;
        names::problem(&lit.value()).map_or(Ok(lit.clone()), |text| Err(syn::Error::new(lit.span(), text)))
    }

    /// One stored name, or several.
    pub fn stored_names(&self) -> syn::Result<Vec<LitStr>> {
        let names = match &self.value {
            Value::Equals(_) => vec![self.string()?],
            Value::Group(_) => self.list::<LitStr>()?,
            Value::Flag => return self.misused(),
        };
        for lit in &names {
            if let Some(text) = names::problem(&lit.value()) {
                return Err(syn::Error::new(lit.span(), text));
            }
        }
        Ok(names)
    }

    /// `word = ".."`, one of these.
    pub fn choice(&self, of: &[&str]) -> syn::Result<LitStr> {
        let lit = self.string()?;
        if of.contains(&lit.value().as_str()) { Ok(lit) } else { self.misused_at(lit.span()) }
    }

    fn misused_at<T>(&self, span: Span) -> syn::Result<T> {
        Err(syn::Error::new(span, format!("`{}` is written {}", self.word, self.usage)))
    }

    /// `word = "15m"`.
    pub fn duration(&self) -> syn::Result<At<Duration>> {
        let lit = self.string()?;
        Ok(At { value: duration(&lit)?, span: lit.span() })
    }

    /// `word = 3`, within the type and above zero.
    pub fn positive<T: std::str::FromStr + PartialEq + Default>(&self) -> syn::Result<At<T>> {
        let at = self.integer::<T>()?;
        if at.value == T::default() {
            return Err(syn::Error::new(at.span, format!("`{}` is at least 1", self.word)));
        }
        Ok(at)
    }

    /// `word = 3`, within the type.
    pub fn integer<T: std::str::FromStr>(&self) -> syn::Result<At<T>> {
        match self.literal()? {
            Lit::Int(lit) if lit.suffix().is_empty() => {
                let out = format!("`{}` is out of range: its type is `{}`", self.word, std::any::type_name::<T>());
                let value = lit.base10_digits().parse().map_err(|_| syn::Error::new(lit.span(), out))?;
                Ok(At { value, span: lit.span() })
            }
            other => self.misused_at(other.span()),
        }
    }

    /// The tokens of `word(..)`.
    pub fn group(&self) -> syn::Result<TokenStream> {
        match &self.value {
            Value::Group(tokens) if !tokens.is_empty() => Ok(tokens.clone()),
            Value::Group(_) => {
                Err(syn::Error::new(self.name.span(), format!("`{0}()` is empty: write {1}", self.word, self.usage)))
            }
            Value::Flag | Value::Equals(_) => self.misused(),
        }
    }

    /// `word(x)`.
    pub fn one<T: Parse>(&self) -> syn::Result<T> {
        syn::parse2(self.group()?).or_else(|_| self.misused())
    }

    /// `word(x, y)`: at least one.
    pub fn list<T: Parse>(&self) -> syn::Result<Vec<T>> {
        let items = Punctuated::<T, Token![,]>::parse_terminated.parse2(self.group()?).or_else(|_| self.misused())?;
        Ok(items.into_iter().collect())
    }
}

impl Parse for FieldRef {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let ident: Ident = input.parse()?;
        if ident == "carry" && input.peek(Token![.]) {
            input.parse::<Token![.]>()?;
            return Ok(Self { ident: input.parse()?, carry: true });
        }
        Ok(Self { ident, carry: false })
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
