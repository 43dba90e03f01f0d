//! A job: its function, taken apart.

use proc_macro2::Ident;
use syn::{GenericArgument, ItemFn, PathArguments, Type};

pub struct Job {
    pub function: ItemFn,
    pub handler: Type,
    pub arguments: Vec<(Ident, Type)>,
    pub context: bool,
    pub returns: Type,
    /// Of the struct. A private function's job may be a child of a public machine, whose handlers name it.
    pub vis: syn::Visibility,
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
