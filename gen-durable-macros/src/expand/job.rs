//! A job: the function as it is, and a one-step machine that runs it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;

use super::{edges, linked, machine_impl, respan, start, step_impl, step_struct};
use crate::{
    model::{Job, Machine},
    span::local,
};

/// Everything that stands for one annotated function.
pub fn job(m: &Machine) -> TokenStream {
    let (Some(job), Some(step)) = (&m.job, m.steps.first()) else { return quote!() };
    let (k, function) = (m.facade.private(), &job.function);
    let (data, starter) = (step_struct::step(m, step), starter(m, job));
    let (machine, step, edges, start) = (machine_impl::machine(m), step_impl::all(m), edges::all(m), start::all(m));
    let served = if m.broken { quote!() } else { served(m, job) };
    let linked = if m.broken { quote!() } else { linked(m) };
    quote! {
        #function
        #data
        #starter
        #[doc(hidden)]
        #[allow(unused_imports, unused_qualifications, deprecated)]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        const _: () = {
            use #k::{Fallback as _, NotServed as _};
            #machine #step #edges #start #served #linked
        };
    }
}

/// `PickItem::start(sku)`.
fn starter(m: &Machine, job: &Job) -> TokenStream {
    let (k, vis, ident) = (m.facade.private(), &m.vis, &m.ident);
    let (names, types): (Vec<_>, Vec<_>) = job.arguments.iter().map(|(n, t)| (n, t)).unzip();
    let doc = format!("Begins a description of a new instance of job `{}`.", job.function.sig.ident);
    quote! {
        #[allow(clippy::too_many_arguments, dead_code)]
        impl #ident {
            #[doc = #doc]
            #vis fn start(#(#names: #types),*) -> #k::Start<#ident> {
                #k::start(#ident { #(#names),* })
            }
        }
    }
}

fn served(m: &Machine, job: &Job) -> TokenStream {
    let (k, ident, handler, function) = (m.facade.private(), &m.ident, &job.handler, &job.function.sig.ident);
    let [handler_, run, data] = ["handler", "run", "data"].map(local);
    let names = job.arguments.iter().map(|(name, _)| name);
    let context = job.context.then(|| quote!(&#run.context));
    let outcome = if job.returns_outcome() { quote!(returned) } else { quote!(#k::done(returned)) };
    // A future that is not `Send` is told at the job's name, what is no result at its type.
    let called = quote!(#k::support::sent(#function(&*#handler_, #(#data.#names,)* #context)).await);
    let called = respan(called, function.span());
    let result = quote!(let returned = #k::JobReturn::into_step_result(returned)?;);
    let result = respan(result, Span::call_site().located_at(job.returns.span()));
    let body = quote! {
        #k::Box::pin(async move {
            let #data = #k::support::step::<#ident>(&#run)?;
            let returned = #called;
            #result
            #k::support::ran::<#ident>(#outcome, &())
        })
    };
    quote! {
        impl #k::ServedBy<#handler> for #ident {
            fn run(#handler_: #k::Arc<#handler>, #run: #k::Run) -> #k::RunFuture { #body }
        }
    }
}
