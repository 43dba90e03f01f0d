//! Few of each, so that they meet; and written so that a careless statement trips over them.

use gen_durable_runtime::model::AwaitMode::{All, Any, AnyBiased, Count};
use serde_json::{Value, json};

use super::WaitPlan;
use crate::driver::Steps;

pub(super) const MACHINES: &[(&str, i32)] = &[("m", 1), ("m", 1), ("m", 2), ("n", 1)];
pub(super) const STEPS: &[&str] = &["a", "b", "it's c"];
/// The first is where most things happen.
pub(super) const QUEUES: &[&str] = &["q", "q", "q", "q", "q", "Q'2"];
pub(super) const PRIORITIES: &[i16] = &[0, 0, 5, -1, i16::MIN, i16::MAX];
pub(super) const KEYS: &[&str] = &["m:1", "m:é\"x", "m:it's, {3}"];
pub(super) const SLOTS: &[&str] = &["slot:1", "slot:2"];
pub(super) const SIGNALS: &[&str] = &["go", "Go", "a\"b", "x,y"];
/// Some names stand for one signal: its name and an alias.
pub(super) const WAITS: &[WaitPlan] = &[
    WaitPlan(&["go"], &[0], Any),
    WaitPlan(&["go", "a\"b"], &[0, 1], Any),
    WaitPlan(&["x,y", "Go"], &[0, 0], Any),
    WaitPlan(&["a\"b", "x,y", "go"], &[0, 1, 1], AnyBiased),
    WaitPlan(&["Go", "go"], &[0, 1], AnyBiased),
    WaitPlan(&["go", "a\"b", "Go"], &[0, 1, 1], All),
    WaitPlan(&["x,y", "go"], &[0, 1], All),
    WaitPlan(&["go"], &[0], Count(2)),
    WaitPlan(&["go", "Go", "x,y"], &[0, 0, 0], Count(3)),
];
pub(super) const QUORUMS: &[u32] = &[0, 1, 1, 2, 2, 3, 5];
pub(super) const DEDUPS: &[&str] = &["d1", "d%"];
pub(super) const TEXTS: &[&str] = &["no", "it's \"bad\", é\n{}"];
/// Names that are each other's pattern or beginning.
pub(super) const WORKERS: &[&str] = &["h.1", "h.10", "h_1", "h%", "h*", "[h].1"];

const EVERYTHING: Steps = &[
    ("m", 1, "a"),
    ("m", 1, "b"),
    ("m", 1, "it's c"),
    ("m", 2, "a"),
    ("m", 2, "b"),
    ("m", 2, "it's c"),
    ("n", 1, "a"),
    ("n", 1, "b"),
    ("n", 1, "it's c"),
    ("n", 2, "a"),
    ("n", 2, "b"),
    ("n", 2, "it's c"),
];
/// What workers know: mostly everything.
pub(super) const KNOWN: &[Steps] = &[
    EVERYTHING,
    EVERYTHING,
    EVERYTHING,
    EVERYTHING,
    EVERYTHING,
    EVERYTHING,
    &[("m", 1, "a"), ("m", 2, "b"), ("n", 1, "it's c")],
    &[],
];

pub(super) fn values() -> Vec<Value> {
    vec![
        json!({}),
        json!({"n": u64::MAX, "f": 0.5, "é": "it's \"\\ {1,2}"}),
        json!({"list": [null, true, -1, "$1"], "deep": {"a": {"b": [[]]}}}),
    ]
}
