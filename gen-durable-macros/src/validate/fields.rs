//! Fields that are named exist. Of a data type of one's own, and of the carry, the compiler checks it.

use syn::Type;

use crate::{
    diag::{Diag, did_you_mean, list},
    model::{Amount, Concurrency, FieldRef, Machine, Step, Timeout},
    span::text,
};

pub fn check(diag: &mut Diag, m: &Machine) {
    for s in &m.steps {
        for field in own(s) {
            exists(diag, m, s, field);
        }
        if s.options.concurrency.is_none() {
            by_default(diag, m, s);
        }
    }
}

/// Every field that the step's own annotation names.
fn own(s: &Step) -> Vec<&FieldRef> {
    let o = &s.options;
    let mut all: Vec<&FieldRef> = vec![];
    all.extend(o.key.iter().flat_map(|k| &k.fields));
    all.extend(o.rate_limit.iter().flat_map(|r| &r.by));
    all.extend(o.concurrency.iter().flat_map(by));
    let amounts = o.rate_limit.iter().filter_map(|r| r.weight.as_ref()).chain(&o.quorum);
    all.extend(amounts.filter_map(|at| match &at.value {
        Amount::Field(field) => Some(field),
        Amount::Constant(_) => None,
    }));
    match o.timeout.as_ref().map(|t| &t.value) {
        Some(Timeout::AfterField(field) | Timeout::UntilField(field)) => all.push(field),
        Some(Timeout::After(_)) | None => {}
    }
    all
}

fn by(concurrency: &Concurrency) -> &[FieldRef] {
    match concurrency {
        Concurrency::None => &[],
        Concurrency::On { by, .. } => by,
    }
}

fn exists(diag: &mut Diag, m: &Machine, s: &Step, field: &FieldRef) {
    let name = text(&field.ident);
    if field.carry {
        if m.options.carry.is_none() {
            diag.at(&field.ident, format!("machine `{}` has no carry: declare it, `carry(Type)`", m.ident));
        }
        return;
    }
    let Some(fields) = s.named_fields() else { return };
    let known: Vec<String> = fields.iter().filter_map(|f| f.ident.as_ref()).map(text).collect();
    if known.contains(&name) {
        return;
    }
    let hint = did_you_mean(&name, known.iter().map(String::as_str));
    let (what, of) = if m.job.is_some() { ("job", "argument") } else { ("step", "field") };
    let has = if known.is_empty() { format!("it has no {of}s") } else { format!("{of}s: {}", list(&known)) };
    diag.at(&field.ident, format!("{what} `{}` has no {of} `{name}`{hint}\n{has}", s.ident));
}

/// The machine's `concurrency(..)` is the default of every step, so each of them has its fields.
fn by_default(diag: &mut Diag, m: &Machine, s: &Step) {
    let Some(fields) = s.named_fields() else { return };
    let missing = |f: &&FieldRef| !f.carry && !fields.iter().any(|o| o.ident.as_ref() == Some(&f.ident));
    for field in m.options.concurrency.iter().flat_map(by).filter(missing) {
        let text = format!(
            "step `{}` has no field `{}`, which the machine's `concurrency(..)` needs\nadd the field, or mark the step \
             `concurrency(none)`",
            s.ident, field.ident
        );
        diag.at(&s.ident, text);
    }
    if let (None, Some(Concurrency::On { by, .. })) = (&m.options.carry, &m.options.concurrency)
        && let (Some(field), true) = (by.iter().find(|f| f.carry), m.steps.first().is_some_and(|f| f.ident == s.ident))
    {
        diag.at(&field.ident, format!("machine `{}` has no carry: declare it, `carry(Type)`", m.ident));
    }
}

/// The type of a field, where the annotation sees it.
pub fn ty<'a>(s: &'a Step, field: &FieldRef) -> Option<&'a Type> {
    if field.carry {
        return None;
    }
    s.named_fields()?.iter().find(|f| f.ident.as_ref() == Some(&field.ident)).map(|f| &f.ty)
}
