//! `MachineInfo`: everything that was parsed, as constants.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, LitStr};

use super::{duration, option, signals};
use crate::{
    attrs,
    model::{Amount, Concurrency, Machine, Retry, Schedule, Step, Timeout},
    validate::{exempt, stays},
};

pub fn machine(m: &Machine) -> TokenStream {
    let (k, o, ident) = (m.facade.private(), &m.options, &m.ident);
    let (name, version, aliases, doc) = (m.stored_name(), m.version(), &o.aliases, attrs::first_line(&m.attrs));
    let queue = o.queue.as_ref().map_or_else(|| "default".to_owned(), LitStr::value);
    let (job, priority, history) = (m.job.is_some(), o.priority.as_ref().map_or(0, |p| p.value), !o.history_off);
    let steps = m.steps.iter().filter(|_| !m.broken).map(|s| step(m, s));
    let (exits, upgrades) = (exits(m), upgrades(m));
    let some = |d: Option<std::time::Duration>| option(d.map(|d| duration(&k, d)));
    let deadline = some(o.deadline.as_ref().map(|d| d.value));
    let (endless, dedup) = (o.endless.is_some(), some(o.endless.as_ref().and_then(|e| e.value)));
    let (store, done, failed) = (option(o.store.as_ref()), some(o.retention.0), some(o.retention.1));
    quote! {
        #k::MachineInfo {
            name: #name, version: #version, aliases: &[#(#aliases),*],
            rust_path: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#ident)),
            doc: #doc, job: #job, queue: #queue, priority: #priority,
            steps: &[#(#steps),*], exits: #exits, deadline: #deadline, endless: #endless, dedup: #dedup,
            upgrades: #upgrades, store: #store, history: #history, retention: (#done, #failed),
        }
    }
}

fn upgrades(m: &Machine) -> TokenStream {
    let k = m.facade.private();
    match m.options.from.as_ref().filter(|_| !m.broken) {
        Some(old) => quote!(<#k::Quiet<#old>>::MACHINE_INFO),
        None => option(None::<TokenStream>),
    }
}

fn stored(m: &Machine, target: &Ident) -> String {
    m.step(target).map(Step::stored_name).unwrap_or_default()
}

fn exits(m: &Machine) -> TokenStream {
    let (k, o) = (m.facade.private(), &m.options);
    let exit = |kind: TokenStream, to: &Ident| {
        let to = stored(m, to);
        quote!(#k::ExitInfo { kind: #kind, to: #to })
    };
    let mut all = vec![];
    all.extend(o.catch.iter().map(|to| exit(quote!(#k::ExitKind::Catch), to)));
    all.extend(o.on_cancel.iter().map(|to| exit(quote!(#k::ExitKind::Cancel), to)));
    all.extend(o.on_deadline.iter().map(|to| exit(quote!(#k::ExitKind::Deadline), to)));
    let signal = |s: &syn::Path| quote!(#k::ExitKind::Signal(<#k::Quiet<#s>>::SIGNAL_NAMES));
    all.extend(o.on.iter().map(|(s, to)| exit(signal(s), to)));
    quote!(&[#(#all),*])
}

fn step(m: &Machine, s: &Step) -> TokenStream {
    let (k, o, cfgs, variant) = (m.facade.private(), &s.options, &s.cfgs, crate::span::text(&s.ident));
    let (name, aliases, doc) = (s.stored_name(), &o.aliases, attrs::first_line(&s.attrs));
    let (start, done, fail, shield) = (o.start.is_some(), o.done.is_some(), o.fail.is_some(), o.shield);
    let key = option(o.key.as_ref().map(|key| key.kept));
    let next = o.next.iter().map(|to| {
        let (name, cfgs) = (stored(m, to), m.step(to).map(|t| &t.cfgs).into_iter().flatten());
        quote!(#(#cfgs)* #name)
    });
    let (awaits, timeout, join, spawns) = (signals::info(&k, s), timeout(&k, s), join(&k, s), &o.spawn);
    let (rate, concurrency, schedules) = (rate(&k, s), concurrency(m, s), schedules(&k, s));
    let (retry, run_timeout) = (retry(m, s), run_timeout(m, s));
    let catch = option(catch(m, s).map(|to| stored(m, to)));
    let (queue, priority) = (option(o.queue.as_ref()), option(o.priority.as_ref().map(|p| p.value)));
    let expires = m.options.on_deadline.as_ref().is_some_and(|to| leaves(m, s, to));
    let exit_signals = exit_signals(m, s);
    quote! {
        #(#cfgs)*
        #k::StepInfo {
            name: #name, aliases: &[#(#aliases),*], variant: #variant, doc: #doc, start: #start, key: #key,
            next: &[#(#next),*], done: #done, fail: #fail, awaits: #awaits, timeout: #timeout, join: #join,
            spawns: &[#(<#k::Quiet<#spawns>>::MACHINE_NAME),*],
            rate_limit: #rate, concurrency: #concurrency, retry: #retry, run_timeout: #run_timeout,
            catch: #catch, schedules: #schedules, queue: #queue, priority: #priority, shield: #shield,
            expires: #expires, exit_signals: &[#(#exit_signals),*],
        }
    }
}

/// Whether the exit into `to` may be taken from the step.
fn leaves(m: &Machine, s: &Step, to: &Ident) -> bool {
    !stays(m, to).into_iter().any(|at| std::ptr::eq(&m.steps[at], s))
}

/// The signals that leave the step by an exit.
fn exit_signals(m: &Machine, s: &Step) -> Vec<TokenStream> {
    let k = m.facade.private();
    let leave = m.options.on.iter().filter(|(_, to)| !m.broken && leaves(m, s, to));
    leave.map(|(signal, _)| quote!(<#k::Quiet<#signal>>::SIGNAL_NAMES)).collect()
}

/// Its own catch, or the machine's unless it is exempt.
pub fn catch<'a>(m: &'a Machine, s: &'a Step) -> Option<&'a Ident> {
    let by_machine = || {
        let to = m.options.catch.as_ref()?;
        let at = m.steps.iter().position(|o| o.ident == s.ident)?;
        (!exempt(m, to).contains(&at)).then_some(to)
    };
    s.options.catch.as_ref().or_else(by_machine)
}

fn timeout(k: &TokenStream, s: &Step) -> TokenStream {
    option(s.options.timeout.as_ref().map(|timeout| match &timeout.value {
        Timeout::After(after) => {
            let after = duration(k, *after);
            quote!(#k::TimeoutInfo::After(#after))
        }
        Timeout::AfterField(f) => {
            let name = crate::span::text(&f.ident);
            quote!(#k::TimeoutInfo::AfterField(#name))
        }
        Timeout::UntilField(f) => {
            let name = crate::span::text(&f.ident);
            quote!(#k::TimeoutInfo::UntilField(#name))
        }
    }))
}

fn join(k: &TokenStream, s: &Step) -> TokenStream {
    option(s.options.join.as_ref().map(|join| {
        let (machines, cancel) = (&join.value, s.options.rest.as_ref().is_some_and(|r| r.value));
        let quorum = option(s.options.quorum.as_ref().map(|q| match &q.value {
            Amount::Constant(n) => quote!(#k::QuorumInfo::Constant(#n)),
            Amount::Field(f) => {
                let name = crate::span::text(&f.ident);
                quote!(#k::QuorumInfo::Field(#name))
            }
        }));
        quote! {
            #k::JoinInfo {
                machines: &[#(<#k::Quiet<#machines>>::MACHINE_NAME),*], quorum: #quorum, cancel_rest: #cancel,
            }
        }
    }))
}

fn rate(k: &TokenStream, s: &Step) -> TokenStream {
    option(s.options.rate_limit.as_ref().map(|rate| {
        let limit = &rate.limit;
        let weight = option(match rate.weight.as_ref().map(|w| &w.value) {
            None => Some(1),
            Some(Amount::Constant(n)) => Some(*n),
            Some(Amount::Field(_)) => None,
        });
        quote!(#k::RateLimitInfo { weight: #weight, ..<#k::Quiet<#limit>>::RATE })
    }))
}

fn concurrency(m: &Machine, s: &Step) -> TokenStream {
    let k = m.facade.private();
    option(match s.concurrency(m) {
        Some(Concurrency::On { key, .. }) => Some(quote!(<#k::Quiet<#key>>::CONCURRENCY)),
        Some(Concurrency::None) | None => None,
    })
}

fn retry(m: &Machine, s: &Step) -> TokenStream {
    let k = m.facade.private();
    let (own, all): (&Retry, &Retry) = (&s.options.retry, &m.options.retry);
    let default = quote!(#k::RetryPolicy::DEFAULT);
    let number = |value: Option<u32>, or: TokenStream| value.map_or(or, |n| quote!(#n));
    let attempts = number(own.attempts.or(all.attempts), quote!(#default.attempts));
    let crashes = number(own.crashes.or(all.crashes), quote!(#default.crashes));
    let time = |value: Option<_>, or: TokenStream| value.map_or(or, |d| duration(&k, d));
    let backoff = time(own.backoff.or(all.backoff), quote!(#default.backoff));
    let cap = time(own.cap.or(all.cap), quote!(#default.cap));
    quote!(#k::RetryPolicy { attempts: #attempts, backoff: #backoff, cap: #cap, crashes: #crashes })
}

fn run_timeout(m: &Machine, s: &Step) -> TokenStream {
    let k = m.facade.private();
    let limit = s.options.run_timeout.as_ref().or(m.options.run_timeout.as_ref());
    option(limit.map(|at| duration(&k, at.value)))
}

fn schedules(k: &TokenStream, s: &Step) -> TokenStream {
    let o = &s.options;
    let Some(schedule) = &o.schedule else { return quote!(&[]) };
    let when = match &schedule.value {
        Schedule::Every(every) => {
            let every = duration(k, *every);
            quote!(#k::ScheduleWhen::Every(#every))
        }
        Schedule::Cron(cron) => quote!(#k::ScheduleWhen::Cron(#cron)),
    };
    let (tz, skip) = (option(o.tz.as_ref()), o.missed.is_some());
    quote!(&[#k::ScheduleInfo { when: #when, tz: #tz, skip_missed: #skip }])
}
