//! The annotated item, parsed. Spans are kept: every error points at what the user wrote.

mod job;
mod step;

use std::time::Duration;

use proc_macro2::{Ident, Span};
use syn::{Attribute, ItemEnum, LitStr, Path, Type};

use crate::{krate::Facade, validate::Owner};

pub use job::{Job, arguments};
pub use step::*;

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
        quote::format_ident!("{}Steps", self.ident, span = Span::call_site().located_at(self.ident.span()))
    }

    /// Stands, while the annotation is wrong, for the types that the handlers see: of it they may say anything.
    pub fn unknown(&self) -> Ident {
        quote::format_ident!("{}Unknown", self.ident)
    }

    /// The steps that a cancel, the deadline or a signal leads to, with the token that says so.
    pub fn outside_exits(&self) -> impl Iterator<Item = &Ident> {
        let o = &self.options;
        [&o.on_cancel, &o.on_deadline].into_iter().flatten().chain(o.on.iter().map(|(_, to)| to))
    }

    /// Exits from any step that lead to `S`, with the token that says so.
    pub fn exits(&self) -> impl Iterator<Item = &Ident> {
        self.options.catch.iter().chain(self.outside_exits())
    }
}
