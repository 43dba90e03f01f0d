//! Every reason not to start, in words that mend it.

use std::collections::HashMap;

use crate::machine::{
    MachineInfo, StepInfo,
    registry::{self, MachineRegistration},
};

pub(super) const NOTHING_LINKED: &str = "no machine is linked into this binary: a library crate that the binary never mentions \
     registers nothing. Mention the crate that holds the machines in main.rs, with a line such as \
     `use my_machines as _;`";

pub(super) fn unserved(machine: &MachineRegistration) -> String {
    let info = (machine.info)();
    let id = (machine.type_id)();
    let named: Vec<&str> = registry::handlers().filter(|h| (h.machine)() == id).map(|h| (h.handler)().1).collect();
    let how = match named.as_slice() {
        [] => {
            format!("give it `handler(Type)`, or call `.serve::<{}, _>(handler)` on the worker", last(info.rust_path))
        }
        types => {
            format!("give the worker a `{}`: `.handler(..)`, or its constructor in `worker!(..)`", types.join("` or `"))
        }
    };
    format!("nobody serves machine `{}` version {} ({}): {how}", info.name, info.version, info.rust_path)
}

pub(super) fn takes_over(newer: &'static MachineInfo, older: &'static MachineInfo) -> bool {
    let mut version = newer.upgrades;
    while let Some(info) = version {
        if std::ptr::eq(info, older) || info.rust_path == older.rust_path {
            return true;
        }
        version = info.upgrades;
    }
    false
}

/// Two machines with one stored name and version: a row could run either.
pub(super) fn twins(machines: &[&'static MachineRegistration]) -> Vec<String> {
    let mut seen: HashMap<(&str, i32), &MachineInfo> = HashMap::new();
    let mut faults = Vec::new();
    for info in machines.iter().map(|m| (m.info)()) {
        for name in names(info) {
            match seen.insert((name, info.version), info) {
                Some(other) if !std::ptr::eq(other, info) => faults.push(format!(
                    "two machines are stored as `{name}` version {}: {} and {}; give one `name = \"..\"` or another `version`",
                    info.version, other.rust_path, info.rust_path
                )),
                Some(_) | None => {}
            }
        }
    }
    faults
}

/// What the annotation says and this worker cannot honour: never ignored in silence.
pub(super) fn unsupported(info: &'static MachineInfo, dialect: &str) -> Option<String> {
    let store = info.store.filter(|store| *store != dialect)?;
    Some(format!(
        "machine `{}` ({}) needs store = \"{store}\", and the database is {dialect}: give the worker a URL that begins \
         with {store}:// (DATABASE_URL, or --database)",
        info.name, info.rust_path
    ))
}

pub(super) fn names(info: &'static MachineInfo) -> impl Iterator<Item = &'static str> {
    std::iter::once(info.name).chain(info.aliases.iter().copied())
}

pub(super) fn step_names(step: &'static StepInfo) -> impl Iterator<Item = &'static str> {
    std::iter::once(step.name).chain(step.aliases.iter().copied())
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
