//! Documentation that is generated: the step table, and signatures to copy.

use proc_macro2::TokenStream;
use quote::quote;

use super::pretty;
use crate::{
    diag::list,
    model::{AwaitMode, Concurrency, Machine, Step, Timeout},
};

/// The step table, appended to the enum's docs.
pub fn table(m: &Machine) -> TokenStream {
    let intro = format!("# Steps\n\nStored as `{}`, version {}.\n", m.stored_name(), m.version());
    let head = "| step | waits for | runs under | leads to |\n|---|---|---|---|";
    let rows: Vec<String> = m.steps.iter().map(|s| row(m, s)).collect();
    let text = format!("\n\n{intro}\n{head}\n{}", rows.join("\n"));
    quote!(#[doc = #text])
}

fn row(m: &Machine, s: &Step) -> String {
    let start = if s.options.start.is_some() { " (start)" } else { "" };
    format!("| `{}`{start} | {} | {} | {} |", s.ident, waits(s), under(m, s), leads(s))
}

fn waits(s: &Step) -> String {
    let o = &s.options;
    let mut parts = vec![];
    if let Some(awaits) = &o.awaits {
        let names = list(awaits.signals.iter().map(pretty));
        parts.push(match awaits.mode {
            AwaitMode::Any | AwaitMode::Biased => names,
            AwaitMode::All => format!("all of {names}"),
            AwaitMode::Count(n) => format!("{n} × {names}"),
        });
    }
    if let Some(join) = &o.join {
        parts.push(format!("children {}", list(join.value.iter().map(pretty))));
    }
    match o.timeout.as_ref().map(|t| &t.value) {
        Some(Timeout::After(d)) => parts.push(format!("{d:?}")),
        Some(Timeout::AfterField(f)) => parts.push(format!("`{}`", f.ident)),
        Some(Timeout::UntilField(f)) => parts.push(format!("until `{}`", f.ident)),
        None => {}
    }
    parts.join(", ")
}

fn under(m: &Machine, s: &Step) -> String {
    let mut parts = vec![];
    if let Some(rate) = &s.options.rate_limit {
        parts.push(format!("`{}`", pretty(&rate.limit)));
    }
    match s.concurrency(m) {
        Some(Concurrency::On { key, .. }) => parts.push(format!("`{}`", pretty(key))),
        Some(Concurrency::None) | None => {}
    }
    parts.join(", ")
}

fn leads(s: &Step) -> String {
    let o = &s.options;
    let mut parts: Vec<String> = o.next.iter().map(|t| format!("`{t}`")).collect();
    parts.extend(o.done.map(|_| "done".to_owned()));
    parts.extend(o.fail.map(|_| "fail".to_owned()));
    parts.extend(o.catch.as_ref().map(|c| format!("on failure `{c}`")));
    parts.join(", ")
}

/// A handler's signature, ready to copy.
pub fn signature(m: &Machine, s: &Step) -> String {
    let (method, ty) = (crate::names::method(&s.ident), pretty(s.ty()));
    let input = waited_for(s).map(|input| format!("{input}, ")).unwrap_or_default();
    let carry = m.options.carry.as_ref().map(|ty| format!("carry: &mut {}, ", pretty(ty))).unwrap_or_default();
    format!("async fn {method}(&self, step: {ty}, {input}{carry}cx: &StepContext) -> StepResult<{ty}>")
}

fn waited_for(s: &Step) -> Option<String> {
    if let Some(join) = &s.options.join {
        let joined: Vec<String> = join.value.iter().map(|m| format!("Joined<{}>", pretty(m))).collect();
        return Some(match joined.as_slice() {
            [one] => format!("children: {one}"),
            several => format!("children: ({})", several.join(", ")),
        });
    }
    let awaits = s.options.awaits.as_ref()?;
    Some(format!("signal: {}", super::signals::argument_text(s, awaits)))
}
