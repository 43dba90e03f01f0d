//! The graph: starts, ways out, reach, ends, cycles of `catch`.

use std::collections::BTreeSet;

use proc_macro2::Ident;

use crate::{
    diag::{Diag, list},
    model::{Machine, Step},
};

/// There is a start, and every step can be left.
pub fn ways_out(diag: &mut Diag, m: &Machine) {
    if !m.steps.iter().any(|s| s.options.start.is_some()) {
        diag.at(&m.ident, format!("machine `{}` has no start step: mark one `#[step(start)]`", m.ident));
    }
    for s in m.steps.iter().filter(|s| s.options.next.is_empty() && !is_end(s)) {
        let text = format!("step `{}` has no way out: give it `next(..)`, or mark it `#[step(done)]`", s.ident);
        diag.at(&s.ident, text);
    }
}

fn is_end(s: &Step) -> bool {
    s.options.done.is_some() || s.options.fail.is_some()
}

/// Every step can run, and from every step an end can be reached.
pub fn reach(diag: &mut Diag, m: &Machine) {
    let starts = indices(m, |s| s.options.start.is_some());
    let exits = m.exits().filter_map(|e| index(m, e));
    let reached = flood(starts.into_iter().chain(exits), |i| forward(m, i));
    let ends = indices(m, is_end);
    let ending = flood(ends, |i| (0..m.steps.len()).filter(|j| ways_to_end(m, *j).contains(&i)).collect());
    for i in unreachable_roots(m, &reached) {
        let step = &m.steps[i].ident;
        diag.at(step, format!("step `{step}` can never run: {}", why_unreachable(m, i)));
    }
    let lost = |(i, _): &(usize, &Step)| reached.contains(i) && !ending.contains(i);
    let lost: Vec<&Ident> = m.steps.iter().enumerate().filter(lost).map(|(_, s)| &s.ident).collect();
    if let ([first, others @ ..], None) = (lost.as_slice(), &m.options.endless) {
        let also = if others.is_empty() { String::new() } else { format!("\nnor from {}", list(others)) };
        let text = format!(
            "step `{first}` can never finish: no path from it reaches a `#[step(done)]` step{also}\nif that is its \
             design, mark the machine `endless`"
        );
        diag.at(first, text);
    }
}

/// The steps to mend: the others are reached from these. Of a cycle, its first step.
fn unreachable_roots(m: &Machine, reached: &BTreeSet<usize>) -> Vec<usize> {
    let mut left: BTreeSet<usize> = (0..m.steps.len()).filter(|i| !reached.contains(i)).collect();
    let mut roots = vec![];
    let entered = |i: usize, left: &BTreeSet<usize>| left.iter().any(|j| *j != i && forward(m, *j).contains(&i));
    while let Some(first) = left.iter().copied().find(|i| !entered(*i, &left)).or_else(|| left.first().copied()) {
        roots.push(first);
        flood([first], |i| forward(m, i)).iter().for_each(|i| {
            left.remove(i);
        });
    }
    roots.sort_unstable();
    roots
}

fn why_unreachable(m: &Machine, i: usize) -> String {
    let leads = |j: &usize| *j != i && forward(m, *j).contains(&i);
    let from: Vec<_> = (0..m.steps.len()).filter(leads).map(|j| &m.steps[j].ident).collect();
    if from.is_empty() {
        return "no step lists it in `next(..)`".into();
    }
    format!("only {} leads here, and that can never run either", list(from))
}

/// By `catch` alone a machine never comes back to a step.
pub fn catch_cycles(diag: &mut Diag, m: &Machine) {
    let catch = |i: usize| m.steps[i].options.catch.as_ref().and_then(|c| index(m, c));
    let mut reported = BTreeSet::<usize>::new();
    for i in 0..m.steps.len() {
        let path: Vec<usize> = std::iter::successors(catch(i), |j| catch(*j)).take(m.steps.len()).collect();
        let Some(end) = path.iter().position(|j| *j == i) else { continue };
        if !reported.contains(&i) {
            reported.extend(&path[..=end]);
            report_cycle(diag, m, i, &path[..=end]);
        }
    }
}

fn report_cycle(diag: &mut Diag, m: &Machine, from: usize, path: &[usize]) {
    let name = |i: &usize| m.steps[*i].ident.to_string();
    let way: Vec<_> = std::iter::once(&from).chain(path).map(name).collect();
    let text = format!("a cycle of `catch`: {}\na step that fails for good must lead on to an end", way.join(" → "));
    if let Some(target) = &m.steps[from].options.catch {
        diag.at(target, text);
    }
}

fn index(m: &Machine, ident: &Ident) -> Option<usize> {
    m.steps.iter().position(|s| s.ident == *ident)
}

fn indices(m: &Machine, is: impl Fn(&Step) -> bool) -> Vec<usize> {
    (0..m.steps.len()).filter(|i| is(&m.steps[*i])).collect()
}

fn forward(m: &Machine, i: usize) -> Vec<usize> {
    m.steps[i].targets().filter_map(|t| index(m, t)).collect()
}

/// Its own edges, and the exits that a signal or the deadline takes.
fn ways_to_end(m: &Machine, i: usize) -> Vec<usize> {
    let mut ways = forward(m, i);
    if !m.steps[i].options.shield {
        let o = &m.options;
        let exits = o.on_deadline.iter().chain(o.on.iter().map(|(_, to)| to));
        ways.extend(exits.filter_map(|to| index(m, to)));
    }
    ways
}

fn flood(seed: impl IntoIterator<Item = usize>, edges: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let (mut seen, mut todo) = (BTreeSet::new(), seed.into_iter().collect::<Vec<_>>());
    while let Some(i) = todo.pop() {
        if seen.insert(i) {
            todo.extend(edges(i));
        }
    }
    seen
}

/// The steps that the exit into `to` from outside does not leave: the exempt ones, and where an exit has just led: that step
/// runs.
pub fn stays(m: &Machine, to: &Ident) -> BTreeSet<usize> {
    let mut stays = exempt(m, to);
    stays.extend(m.outside_exits().filter_map(|to| index(m, to)));
    stays
}

/// An exit that no step may take.
pub fn dead_exits(diag: &mut Diag, m: &Machine) {
    for to in m.outside_exits().filter(|to| index(m, to).is_some() && stays(m, to).len() == m.steps.len()) {
        let text = format!(
            "no step can take this exit: a step that is shielded, that an exit leads to, or that is reached from `{to}` does not"
        );
        diag.at(to, text);
    }
}

/// The steps that the exit into `to` does not interrupt: shielded ones, and all that it leads to.
pub fn exempt(m: &Machine, to: &Ident) -> BTreeSet<usize> {
    let mut exempt = flood(index(m, to), |i| forward(m, i));
    exempt.extend(indices(m, |s| s.options.shield));
    exempt
}
