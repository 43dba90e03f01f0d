//! Checks the model. Adds errors, changes nothing.

mod cron;
mod fields;
mod graph;
mod names;
mod neighbours;
mod rules;

use crate::{diag::Diag, model::Machine};

/// Stages: each one assumes what the one before it proved, so that only root causes are reported.
pub fn check(diag: &mut Diag, m: &Machine) {
    names::check(diag, m);
    rules::check(diag, m);
    fields::check(diag, m);
    if diag.is_empty() && m.job.is_none() {
        graph::ways_out(diag, m);
    }
    if diag.is_empty() && m.job.is_none() {
        graph::reach(diag, m);
    }
    if diag.is_empty() && m.job.is_none() {
        graph::catch_cycles(diag, m);
        graph::dead_exits(diag, m);
    }
}

pub use graph::{exempt, stays};
pub use neighbours::{Owner, check as neighbours};
