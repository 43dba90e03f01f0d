//! Calls in one line each, so that a shrunk history can be read.

use gen_durable_runtime::model::{Change, Entry, SignalSpec, StartSpec, Target, Transition};

pub(super) fn all<T>(items: &[T], one: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(one).collect::<Vec<_>>().join("; "))
}

pub(super) fn start(s: &StartSpec) -> String {
    let mut text = format!("{}/{} {}", s.machine, s.version, entry(&s.entry));
    given(&mut text, "carry", s.carry.as_ref().map(|c| c.as_str()));
    given(&mut text, if s.key_kept { "kept key" } else { "key" }, s.key.as_ref());
    given(&mut text, "after", (!s.delay.is_zero()).then_some(s.delay));
    given(&mut text, "defaults", Some(s.defaults));
    given(&mut text, "queue", s.queue.as_ref());
    given(&mut text, "priority", s.priority);
    text
}

fn entry(e: &Entry) -> String {
    let mut text = format!("{} {}", e.step, e.state.as_str());
    given(&mut text, "awaits", e.wait.as_ref().map(|w| (&w.names, &w.groups, w.mode, w.deadline)));
    given(&mut text, "joins", e.join.as_ref());
    given(&mut text, "timer", e.timer);
    given(&mut text, "own queue", e.queue);
    given(&mut text, "own priority", e.priority);
    given(&mut text, "slot", e.concurrency.as_ref().map(|slot| &slot.key));
    text
}

pub(super) fn signal(s: &SignalSpec) -> String {
    let mut text = match &s.target {
        Target::Id(id) => format!("{:?} to #{id} {}", s.name, s.payload.as_str()),
        Target::Key(key) => format!("{:?} to {key:?} {}", s.name, s.payload.as_str()),
    };
    given(&mut text, "dedup", s.dedup.as_ref());
    text
}

pub(super) fn transition(t: &Transition) -> String {
    let change = match &t.change {
        Change::Advance(a) => {
            let mut text = format!("on to {} in {:?} at {}", entry(&a.entry), a.queue, a.priority);
            given(&mut text, "after", (!a.delay.is_zero()).then_some(a.delay));
            given(&mut text, "carry", a.carry.as_ref().map(|c| c.as_str()));
            given(&mut text, "error", a.error.as_ref());
            text + if a.in_place { ", in place" } else { "" }
        }
        other => format!("{other:?}"),
    };
    let consumed = if t.consumed.is_empty() { String::new() } else { format!(", consumes {:?}", t.consumed) };
    let empties = if t.may_have_signals { ", awaits signals" } else { "" };
    let mut text = format!("#{} of {:?} at {}: {change}{consumed}{empties}", t.id, t.token.as_str(), t.transitions);
    given(&mut text, "child of", t.parent.map(|p| (p.id.get(), p.round)));
    if let Some(effects) = &t.effects {
        text += &format!(", children {}", all(&effects.children, start));
        text += &format!(", spawned {}", all(&effects.spawned, start));
        text += &format!(", signals {}", all(&effects.signals, signal));
    }
    text
}

fn given(text: &mut String, name: &str, value: Option<impl std::fmt::Debug>) {
    if let Some(value) = value {
        text.push_str(&format!(", {name} {value:?}"));
    }
}
