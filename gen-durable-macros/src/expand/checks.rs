//! One bound for each type that the annotation names, at its token: the only place where a wrong one is an error.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Path, spanned::Spanned};

use crate::{
    model::{Amount, AwaitMode, Machine, Step},
    span::{at, check_at, refuse_at},
};

pub fn all(m: &Machine) -> TokenStream {
    let (stored, signals, machines) = (stored(m), signals(m), machines(m));
    let (schedules, weights, upgrade) = (schedules(m), weights(m), upgrade(m));
    quote!(#stored #signals #machines #schedules #weights #upgrade)
}

fn stored(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let kept = m.options.output.iter().chain(&m.options.carry);
    let given = m.steps.iter().filter_map(|s| match &s.data {
        crate::model::Data::Given(ty) => Some((&**ty, s.cfgs.as_slice())),
        crate::model::Data::Named(_) | crate::model::Data::Unit => None,
    });
    let check = |(ty, cfgs): (&syn::Type, &[syn::Attribute])| {
        let check = check_at(ty.span(), quote!(#k::support::persist::<#ty>()));
        quote!(#(#cfgs)* #check)
    };
    let job = m.job.as_ref().map(|job| {
        let output = super::machine_impl::output(m);
        check_at(job.returns.span(), quote!(#k::support::persist::<#output>()))
    });
    kept.map(|ty| (ty, [].as_slice())).chain(given).chain(fields(m)).map(check).chain(job).collect()
}

/// The fields that serde writes by their type; each type of a step once.
fn fields(m: &Machine) -> Vec<(&syn::Type, &[syn::Attribute])> {
    let mut seen = vec![];
    let mut all = vec![];
    for s in &m.steps {
        for f in s.named_fields().unwrap_or_default() {
            let ty = &f.ty;
            let word = quote!(#ty).to_string();
            if f.attrs.iter().all(|a| !a.path().is_ident("cfg"))
                && !crate::attrs::replaces_serde(&f.attrs)
                && !seen.contains(&word)
            {
                all.push((&f.ty, s.cfgs.as_slice()));
            }
            seen.push(word);
        }
    }
    all
}

/// Each awaited path once: alone it may be a set, in a list it is a signal.
fn signals(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let mut seen = vec![];
    let mut once = |path: &Path, check: TokenStream| {
        let word = quote!(#path).to_string();
        let new = !seen.contains(&word);
        seen.push(word);
        if new { check } else { quote!() }
    };
    let mut out = quote!();
    for s in &m.steps {
        let Some(awaits) = &s.options.awaits else { continue };
        let alone = awaits.signals.len() == 1 && matches!(awaits.mode, AwaitMode::Any);
        let bound = if alone { quote!(awaitable) } else { quote!(signal) };
        let cfgs = &s.cfgs;
        if awaits.signals.len() > 1 {
            out.extend(distinct(&k, s, awaits));
        }
        for path in &awaits.signals {
            let check = check_at(path.span(), quote!(#k::support::#bound::<#path>()));
            out.extend(once(path, quote!(#(#cfgs)* #check)));
        }
    }
    for (path, _) in &m.options.on {
        out.extend(once(path, check_at(path.span(), quote!(#k::support::signal::<#path>()))));
    }
    out
}

fn distinct(k: &TokenStream, s: &Step, awaits: &crate::model::Await) -> TokenStream {
    let (signals, cfgs) = (&awaits.signals, &s.cfgs);
    let text = format!(
        "step `{}` awaits two signals that are stored under one name: give one `#[signal(name = \"..\")]`",
        s.ident
    );
    let distinct = quote!(#k::support::distinct(&[#(<#k::Quiet<#signals>>::SIGNAL_NAMES),*]));
    let check = refuse_at(awaits.span, quote!(!#distinct), &text);
    quote!(#(#cfgs)* #check)
}

fn machines(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let of_step = |s: &Step| {
        let named = s.options.join.iter().flat_map(|j| &j.value).chain(&s.options.spawn);
        let cfgs = &s.cfgs;
        named
            .map(|path| {
                let check = check_at(path.span(), quote!(#k::support::machine::<#path>()));
                quote!(#(#cfgs)* #check)
            })
            .collect::<TokenStream>()
    };
    m.steps.iter().map(of_step).collect()
}

/// A schedule starts with a carry that has a default.
fn schedules(m: &Machine) -> TokenStream {
    let (k, carry) = (m.facade.private(), m.options.carry.iter());
    let scheduled = m.steps.iter().filter_map(|s| Some((s, s.options.schedule.as_ref()?)));
    let check = |(s, schedule): (&Step, &crate::model::At<_>)| {
        let (cfgs, carry) = (&s.cfgs, carry.clone());
        carry
            .map(|ty| {
                let ty = super::respan(quote!(#ty), schedule.span);
                let check = check_at(schedule.span, quote!(#k::support::scheduled_carry::<#ty>()));
                quote!(#(#cfgs)* #check)
            })
            .collect::<TokenStream>()
    };
    scheduled.map(check).collect()
}

fn weights(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    let of_step = |s: &Step| {
        let rate = s.options.rate_limit.as_ref()?;
        let weight = rate.weight.as_ref()?;
        let Amount::Constant(n) = weight.value else { return None };
        let (limit, cfgs) = (&rate.limit, &s.cfgs);
        let name = super::pretty(limit);
        let text = format!(
            "step `{}` has weight {n}, but one bucket of rate limit `{name}` never holds so many tokens (its burst / \
             shards): it would never run",
            s.ident
        );
        let passes = quote!(#k::support::weight_passes(&<#k::Quiet<#limit>>::RATE, #n as #k::u64));
        let check = refuse_at(weight.span, quote!(!#passes), &text);
        Some(quote!(#(#cfgs)* #check))
    };
    m.steps.iter().filter_map(of_step).collect()
}

fn upgrade(m: &Machine) -> TokenStream {
    let (k, enum_) = (m.facade.private(), &m.ident);
    let Some(old) = &m.options.from else { return quote!() };
    let (version, path) = (m.version(), super::pretty(old));
    let lower = format!("`{path}` is not older: its version must be lower than {version}, the one of this machine");
    let name = format!(
        "`{path}` is stored under another name than this machine: give both the same `name`, or this one `alias = \"..\"`"
    );
    let machine = check_at(old.span(), quote!(#k::support::machine::<#old>()));
    let older = quote!(<#k::Quiet<#old>>::MACHINE_INFO);
    let lower = refuse_at(at(old), quote!(!#k::support::is_older(#older, #version)), &lower);
    let named = quote!(!#k::support::accepts(<#enum_ as #k::Machine>::INFO, #older));
    let named = refuse_at(at(old), named, &name);
    quote!(#machine #lower #named)
}
