//! The function of a job: what it takes and what it returns.

use proc_macro2::Ident;
use syn::{FnArg, ItemFn, Pat, ReturnType, Type, Visibility, parse_quote};

use crate::{
    diag::Diag,
    model::{self, Job, StepOptions},
    span::text,
};

const SHAPE: &str =
    "a job is `async fn name(handler: &Handler, argument: Owned, .., [cx: &StepContext]) -> Result<T, E>`";

pub fn shape(diag: &mut Diag, function: ItemFn) -> Option<Job> {
    let sig = &function.sig;
    if sig.asyncness.is_none() {
        diag.at(sig.fn_token, format!("a job is `async`\n{SHAPE}"));
        return None;
    }
    if !sig.generics.params.is_empty() {
        diag.at(&sig.generics, "a job has no generics: its rows are stored under one name");
        return None;
    }
    let ReturnType::Type(_, returns) = &sig.output else {
        diag.at(&sig.ident, format!("a job returns a `Result`\n{SHAPE}"));
        return None;
    };
    let returns = (**returns).clone();
    if !may_be_result(&returns) {
        diag.at(&returns, format!("a job returns a `Result`, or an alias of one: `JobResult`\n{SHAPE}"));
        return None;
    }
    if let Some(receiver) = sig.receiver() {
        diag.at(receiver, format!("a job is a function of its own, no method\n{SHAPE}"));
        return None;
    }
    let mut inputs = sig.inputs.iter();
    let handler = inputs.next().and_then(borrowed);
    let Some(handler) = handler else {
        diag.at(&sig.ident, format!("the first argument of a job borrows its handler: `shop: &Shop`\n{SHAPE}"));
        return None;
    };
    let mut rest: Vec<_> = inputs.collect();
    let context = rest.last().is_some_and(|last| is_context(last));
    if context {
        rest.pop();
    }
    let arguments = rest.into_iter().map(|a| diag.ok(argument(a))).collect::<Option<Vec<_>>>()?;
    let vis = function.vis.clone();
    Some(Job { handler, arguments, context, returns, function, vis })
}

/// As public as its result and its key allow: what an impl for a public type names must be public too.
pub fn visibility(job: &Job, step: &StepOptions) -> Visibility {
    let keys = step.key.iter().flat_map(|key| &key.fields);
    let mut keys = keys.filter_map(|f| job.arguments.iter().find(|(name, _)| *name == f.ident));
    let public = job.output().is_some_and(is_public) && keys.all(|(_, ty)| is_public(ty));
    if public { parse_quote!(pub) } else { job.vis.clone() }
}

/// A type that is everyone's: of the language, or of `std`.
fn is_public(ty: &Type) -> bool {
    const NAMES: [&str; 22] = [
        "bool", "char", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32",
        "f64", "String", "Vec", "Option", "Box", "BTreeMap", "HashMap",
    ];
    match ty {
        Type::Tuple(tuple) => tuple.elems.iter().all(is_public),
        Type::Path(path) => {
            let known = path.path.get_ident().is_some_and(|i| NAMES.contains(&text(i).as_str()));
            known
                || path.path.segments.last().is_some_and(|s| {
                    let inner = model::arguments(ty, &s.ident.to_string()).unwrap_or_default();
                    NAMES.contains(&text(&s.ident).as_str()) && !inner.is_empty() && inner.into_iter().all(is_public)
                })
        }
        _ => false,
    }
}

/// `Result<..>`, or an alias that is called like one.
fn may_be_result(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|s| text(&s.ident).ends_with("Result")),
        _ => false,
    }
}

fn borrowed(input: &FnArg) -> Option<Type> {
    match input {
        FnArg::Typed(typed) => match &*typed.ty {
            Type::Reference(r) if r.mutability.is_none() => Some((*r.elem).clone()),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    }
}

fn is_context(input: &FnArg) -> bool {
    matches!(borrowed(input), Some(Type::Path(p)) if p.path.segments.last().is_some_and(|s| s.ident == "StepContext"))
}

fn argument(input: &FnArg) -> syn::Result<(Ident, Type)> {
    let FnArg::Typed(typed) = input else { return Err(syn::Error::new_spanned(input, SHAPE)) };
    if matches!(&*typed.ty, Type::Reference(_)) {
        let text = "a job's argument is owned: it is stored with the job";
        return Err(syn::Error::new_spanned(&typed.ty, text));
    }
    match &*typed.pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Ok((p.ident.clone(), (*typed.ty).clone())),
        other => Err(syn::Error::new_spanned(other, "a job's argument is a plain name: it names the stored field")),
    }
}
