//! Model to code.

mod awaits;
mod checks;
mod derives;
mod docs;
mod edges;
mod enum_item;
mod handlers;
mod info;
mod job;
mod machine_impl;
mod receive;
mod registration;
mod signals;
mod start;
mod step_impl;
mod step_struct;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::model::{Data, Machine, Step};

pub use derives::{concurrency_key, key_part, rate_limit, signal, signals};
pub use job::job;
pub use signals::signal_type;

/// Everything that stands for one annotated enum.
pub fn machine(m: &Machine) -> TokenStream {
    let (item, steps, signals) = (enum_item::item(m), step_struct::all(m), signals::types(m));
    let (handlers, hidden) = (handlers::steps_trait(m), hidden(m));
    quote!(#item #steps #signals #handlers #hidden)
}

/// The impls: they stand in a block of their own, where the quiet lookups are in scope.
fn hidden(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let (machine, steps, edges, start) = (machine_impl::machine(m), step_impl::all(m), edges::all(m), start::all(m));
    let (awaits, served) = (awaits::all(m), handlers::served(m));
    let linked = if m.broken { quote!() } else { linked(m) };
    quote! {
        #[doc(hidden)]
        #[allow(unused_imports, unused_qualifications, deprecated)]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        const _: () = {
            use #k::{Fallback as _, NotServed as _};
            #machine #steps #edges #start #awaits #served #linked
        };
    }
}

/// What only a right annotation has: its checks of types, and its registration.
fn linked(m: &Machine) -> TokenStream {
    let (checks, registration, handler) = (checks::all(m), registration::machine(m), registration::handler(m));
    quote!(#checks #registration #handler)
}

/// The type of a step's data, at the token that names the step.
pub fn type_at(m: &Machine, target: &Ident) -> TokenStream {
    match m.step(target) {
        Some(Step { data: Data::Given(ty), .. }) => respan(quote!(#ty), target.span()),
        Some(_) | None => quote!(#target),
    }
}

/// The same tokens, placed at `span`.
pub fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let place = |mut tree: proc_macro2::TokenTree| {
        if let proc_macro2::TokenTree::Group(group) = &tree {
            tree = proc_macro2::Group::new(group.delimiter(), respan(group.stream(), span)).into();
        }
        tree.set_span(tree.span().located_at(span));
        tree
    };
    tokens.into_iter().map(place).collect()
}

/// Tokens as a person writes them.
pub fn pretty(tokens: impl ToTokens) -> String {
    // The compiler breaks what is long into lines.
    let mut text = tokens.to_token_stream().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        ("( ", "("),
        (" ,", ","),
        (", ", ","),
        (",", ", "),
        (" )", ")"),
    ] {
        text = text.replace(from, to);
    }
    text
}

/// A duration as code.
pub fn duration(k: &TokenStream, duration: std::time::Duration) -> TokenStream {
    let (secs, nanos) = (duration.as_secs(), duration.subsec_nanos());
    quote!(#k::Duration::new(#secs, #nanos))
}

/// `Some(x)` or `None`, by their full names.
pub fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
