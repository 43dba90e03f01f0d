//! A machine's graph as text.

use std::fmt::Write;

use crate::machine::{ExitKind, MachineInfo, StepInfo, TimeoutInfo};

/// As a Mermaid state diagram.
pub fn mermaid(machine: &MachineInfo) -> String {
    let mut out = String::from("stateDiagram-v2\n");
    for step in machine.steps {
        if let Some(note) = note(step) {
            let _ = writeln!(out, "    {} : {}\\n{note}", step.name, step.name);
        }
    }
    for edge in edges(machine) {
        let label = edge.label.map_or(String::new(), |l| format!(" : {l}"));
        let _ = writeln!(out, "    {} --> {}{label}", edge.from.unwrap_or("[*]"), edge.to.unwrap_or("[*]"));
    }
    out
}

/// As a DOT digraph.
pub fn dot(machine: &MachineInfo) -> String {
    let mut out = format!(
        "digraph {:?} {{\n    rankdir=LR;\n    start [shape=point];\n    end [shape=doublecircle, label=\"\"];\n",
        machine.name
    );
    for step in machine.steps {
        let note = note(step).map_or(String::new(), |n| format!("\\n{n}"));
        let _ = writeln!(out, "    \"{}\" [shape=box, style=rounded, label=\"{}{note}\"];", step.name, step.name);
    }
    let node = |name: Option<&str>, none: &str| name.map_or(none.to_owned(), |n| format!("{n:?}"));
    for edge in edges(machine) {
        let style = edge.label.map_or(String::new(), |l| format!(" [label={l:?}, style=dashed]"));
        let _ = writeln!(out, "    {} -> {}{style};", node(edge.from, "start"), node(edge.to, "end"));
    }
    out.push_str("}\n");
    out
}

/// From one step to another; none is the beginning, or the end.
struct Edge {
    from: Option<&'static str>,
    to: Option<&'static str>,
    label: Option<&'static str>,
}

fn edges(machine: &MachineInfo) -> Vec<Edge> {
    let mut edges = Vec::new();
    for step in machine.steps {
        let from = Some(step.name);
        if step.start {
            edges.push(Edge { from: None, to: from, label: None });
        }
        edges.extend(step.next.iter().map(|to| Edge { from, to: Some(to), label: None }));
        edges.extend(step.catch.map(|to| Edge { from, to: Some(to), label: Some("catch") }));
        let ends = [(step.done, None), (step.fail, Some("fail"))];
        edges.extend(ends.iter().filter(|(may, _)| *may).map(|(_, label)| Edge { from, to: None, label: *label }));
    }
    edges.extend(machine.exits.iter().filter_map(exit));
    edges
}

/// An exit from any step; `catch` is drawn at each step that has it.
fn exit(exit: &crate::machine::ExitInfo) -> Option<Edge> {
    let label = match exit.kind {
        ExitKind::Catch => return None,
        ExitKind::Cancel => "any step: cancel",
        ExitKind::Deadline => "any step: deadline",
        ExitKind::Signal(names) => names.first().copied().unwrap_or("signal"),
    };
    Some(Edge { from: None, to: Some(exit.to), label: Some(label) })
}

/// What the step waits for.
fn note(step: &StepInfo) -> Option<String> {
    let mut words = Vec::new();
    if let Some(awaits) = &step.awaits {
        let names: Vec<&str> = awaits.signals.iter().flat_map(|names| names.first()).copied().collect();
        words.push(format!("awaits {}", names.join(", ")));
    }
    match step.timeout {
        Some(TimeoutInfo::After(after)) => {
            words.push(format!("timeout {:#}", jiff::SignedDuration::try_from(after).unwrap_or_default()))
        }
        Some(TimeoutInfo::AfterField(field)) => words.push(format!("timeout {field}")),
        Some(TimeoutInfo::UntilField(field)) => words.push(format!("until {field}")),
        None => {}
    }
    if let Some(join) = &step.join {
        words.push(format!("joins {}", join.machines.join(", ")));
    }
    (!words.is_empty()).then(|| words.join(", "))
}
