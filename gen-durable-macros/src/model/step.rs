//! A step: its data, and the rules that stand on it.

use std::time::Duration;

use proc_macro2::{Ident, Span};
use syn::{Attribute, Field, LitStr, Path, Type};

use super::{At, Machine};

pub struct Step {
    pub ident: Ident,
    /// What it becomes on the struct.
    pub attrs: Vec<Attribute>,
    pub cfgs: Vec<Attribute>,
    pub data: Data,
    pub options: StepOptions,
}

pub enum Data {
    Named(Vec<Field>),
    Unit,
    /// `Variant(MyData)`.
    Given(Box<Type>),
}

#[derive(Default)]
pub struct StepOptions {
    pub name: Option<LitStr>,
    pub aliases: Vec<LitStr>,
    pub queue: Option<LitStr>,
    pub priority: Option<At<i16>>,
    pub shield: bool,
    pub start: Option<Span>,
    pub key: Option<BusinessKey>,
    pub next: Vec<Ident>,
    pub done: Option<Span>,
    pub fail: Option<Span>,
    pub awaits: Option<Await>,
    pub timeout: Option<At<Timeout>>,
    pub join: Option<At<Vec<Path>>>,
    pub quorum: Option<At<Amount>>,
    pub rest: Option<At<bool>>,
    pub spawn: Vec<Path>,
    pub rate_limit: Option<Rate>,
    pub concurrency: Option<Concurrency>,
    pub retry: Retry,
    pub run_timeout: Option<At<Duration>>,
    pub catch: Option<Ident>,
    pub schedule: Option<At<Schedule>>,
    pub tz: Option<LitStr>,
    pub missed: Option<LitStr>,
}

/// A field of the step, or of the carry.
#[derive(Clone)]
pub struct FieldRef {
    pub ident: Ident,
    pub carry: bool,
}

pub struct BusinessKey {
    pub fields: Vec<FieldRef>,
    pub kept: bool,
    pub span: Span,
}

pub struct Await {
    pub signals: Vec<Path>,
    pub mode: AwaitMode,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AwaitMode {
    Any,
    Biased,
    All,
    Count(u32),
}

#[derive(Clone)]
pub enum Timeout {
    After(Duration),
    AfterField(FieldRef),
    UntilField(FieldRef),
}

#[derive(Clone)]
pub enum Amount {
    Constant(u32),
    Field(FieldRef),
}

#[derive(Clone)]
pub struct Rate {
    pub limit: Path,
    pub by: Vec<FieldRef>,
    pub weight: Option<At<Amount>>,
}

#[derive(Clone)]
pub enum Concurrency {
    None,
    On { key: Path, by: Vec<FieldRef> },
}

#[derive(Default, Clone)]
pub struct Retry {
    pub attempts: Option<u32>,
    pub backoff: Option<Duration>,
    pub cap: Option<Duration>,
    pub crashes: Option<u32>,
}

pub enum Schedule {
    Every(Duration),
    Cron(LitStr),
}

impl Step {
    /// The type of its data.
    pub fn ty(&self) -> Type {
        match &self.data {
            Data::Given(ty) => (**ty).clone(),
            Data::Named(_) | Data::Unit => {
                let ident = &self.ident;
                syn::parse_quote!(#ident)
            }
        }
    }

    /// Its stored name.
    pub fn stored_name(&self) -> String {
        self.options.name.as_ref().map_or_else(|| crate::names::stored(&self.ident), LitStr::value)
    }

    /// Where it may go by itself: `next(..)` and `catch(..)`.
    pub fn targets(&self) -> impl Iterator<Item = &Ident> {
        self.options.next.iter().chain(&self.options.catch)
    }

    pub fn named_fields(&self) -> Option<&[Field]> {
        match &self.data {
            Data::Named(fields) => Some(fields),
            Data::Unit => Some(&[]),
            Data::Given(_) => None,
        }
    }

    /// Its own concurrency, or the machine's.
    pub fn concurrency<'a>(&'a self, machine: &'a Machine) -> Option<&'a Concurrency> {
        self.options.concurrency.as_ref().or(machine.options.concurrency.as_ref())
    }
}
