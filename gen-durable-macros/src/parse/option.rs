//! One option, understood: a flag, a literal, a name, a list.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Lit, LitStr, Token, parse::Parse, parse::Parser, punctuated::Punctuated};

use super::{
    duration::duration,
    options::{Opt, Value},
};
use crate::{
    model::{At, FieldRef},
    names,
};

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
