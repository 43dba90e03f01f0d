//! The annotated item, parsed. Spans are kept: every error points at what the user wrote.

use std::time::Duration;

use proc_macro2::{Ident, Span};
use syn::{Attribute, Field, GenericArgument, ItemEnum, ItemFn, LitStr, Path, PathArguments, Type};

use crate::{krate::Facade, validate::Owner};

/// A value and where it was written.
#[derive(Clone)]
pub struct At<T> {
    pub value: T,
    pub span: Span,
}

pub struct Machine {
    pub facade: Facade,
    /// The enum without our attributes; a job has none.
    pub item: Option<ItemEnum>,
    pub job: Option<Job>,
    pub ident: Ident,
    pub vis: syn::Visibility,
    pub attrs: Vec<Attribute>,
    pub options: MachineOptions,
    pub steps: Vec<Step>,
    /// Steps whose types would collide: their error is told, and they have nothing but their handlers.
    pub collided: Vec<Step>,
    /// The annotation is wrong: what is generated keeps the rest of the user's code quiet.
    pub broken: bool,
}

pub struct Job {
    pub function: ItemFn,
    pub handler: Type,
    pub arguments: Vec<(Ident, Type)>,
    pub context: bool,
    pub returns: Type,
    /// Of the struct. A private function's job may be a child of a public machine, whose handlers name it.
    pub vis: syn::Visibility,
}

#[derive(Default)]
pub struct MachineOptions {
    pub name: Option<LitStr>,
    pub version: Option<At<i32>>,
    pub aliases: Vec<LitStr>,
    pub queue: Option<LitStr>,
    pub priority: Option<At<i16>>,
    pub output: Option<Type>,
    pub carry: Option<Type>,
    pub handler: Option<Type>,
    pub concurrency: Option<Concurrency>,
    pub retry: Retry,
    pub run_timeout: Option<At<Duration>>,
    pub catch: Option<Ident>,
    pub on_cancel: Option<Ident>,
    pub deadline: Option<At<Duration>>,
    pub on_deadline: Option<Ident>,
    pub on: Vec<(Path, Ident)>,
    pub from: Option<Path>,
    pub derives: Vec<Path>,
    pub endless: Option<At<Option<Duration>>>,
    pub store: Option<LitStr>,
    pub history_off: bool,
    pub retention: (Option<Duration>, Option<Duration>),
    pub facade: Option<Path>,
}

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

impl Job {
    /// The `T` of `Result<T, ..>` or `Result<Outcome<Self, T>, ..>`, when it is written out.
    pub fn output(&self) -> Option<&Type> {
        let ok = arguments(&self.returns, "Result")?.first().copied()?;
        match arguments(ok, "Outcome") {
            Some(outcome) => outcome.get(1).copied(),
            None => Some(ok),
        }
    }

    /// Whether it returns an outcome, to which it can add what it spawns.
    pub fn returns_outcome(&self) -> bool {
        let ok = arguments(&self.returns, "Result").and_then(|types| types.first().copied());
        ok.is_some_and(|ok| arguments(ok, "Outcome").is_some_and(|outcome| outcome.len() == 2))
    }
}

/// The type arguments of `..::name<A, B>`.
pub fn arguments<'a>(ty: &'a Type, name: &str) -> Option<Vec<&'a Type>> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let ty = |argument: &'a GenericArgument| if let GenericArgument::Type(ty) = argument { Some(ty) } else { None };
    Some(arguments.args.iter().filter_map(ty).collect())
}

impl Machine {
    pub fn step(&self, ident: &Ident) -> Option<&Step> {
        self.steps.iter().find(|s| s.ident == *ident)
    }

    /// Takes out the steps whose types would collide, with each other or with those that are `taken`. A struct of the
    /// user's stays the step's data.
    pub fn set_collisions_apart(&mut self, taken: &[(Ident, Owner)]) {
        for s in &mut self.steps {
            if taken.contains(&(s.ident.clone(), Owner::User)) {
                s.data = Data::Given(Box::new(s.ty()));
            }
        }
        let (mut seen, steps_trait) = (vec![], self.steps_trait());
        let own = [&self.ident, &steps_trait];
        let collides = |s: &mut Step| {
            let ty = s.ty();
            let word = quote::quote!(#ty).to_string();
            let again = seen.contains(&word);
            seen.push(word);
            again || own.contains(&&s.ident) || taken.contains(&(s.ident.clone(), Owner::Machine))
        };
        self.collided = self.steps.extract_if(.., collides).collect();
    }

    /// Its stored name.
    pub fn stored_name(&self) -> String {
        self.options.name.as_ref().map_or_else(|| crate::names::stored(&self.ident), LitStr::value)
    }

    pub fn version(&self) -> i32 {
        self.options.version.as_ref().map_or(1, |v| v.value)
    }

    /// The trait of its handlers.
    pub fn steps_trait(&self) -> Ident {
        quote::format_ident!("{}Steps", self.ident, span = self.ident.span())
    }

    /// Stands, while the annotation is wrong, for the types that the handlers see: of it they may say anything.
    pub fn unknown(&self) -> Ident {
        quote::format_ident!("{}Unknown", self.ident)
    }

    /// Exits from any step that lead to `S`, with the token that says so.
    pub fn exits(&self) -> impl Iterator<Item = &Ident> {
        let o = &self.options;
        [&o.catch, &o.on_cancel, &o.on_deadline].into_iter().flatten().chain(o.on.iter().map(|(_, to)| to))
    }
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
