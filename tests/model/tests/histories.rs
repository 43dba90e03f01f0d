//! The three must agree after every step.

use model_tests::{
    history::Mix,
    runner::{self, Seen},
};

#[test]
fn stores_and_model_agree_after_every_step() {
    came_to(
        &runner::run(Mix::All, 18),
        &["start New", "start Duplicate", "claim ready", "commit Kept", "commit Parked"],
    );
}

#[test]
fn stores_and_model_agree_on_waits_signals_and_time() {
    let events = ["claim signalled", "claim timed out", "claim unsatisfied", "signal New, wakes", "signal Duplicate"];
    came_to(
        &runner::run(Mix::Waits, 15),
        &[&events[..], &["signal NoTarget", "end swept", "a deadline that hands over a part"]].concat(),
    );
}

#[test]
fn stores_and_model_agree_on_families() {
    let joins = ["all children of a join have ended", "a quorum is there"];
    let edges = ["a join without children", "a join whose quorum is out of reach at once", "a join whose time is up"];
    let others = ["a child that nobody waits for any more", "a child or a spawned one that stands already", "spawned"];
    came_to(
        &runner::run(Mix::Families, 15),
        &[&joins[..], &edges, &others, &["children read", "lines forgotten", "instances purged"]].concat(),
    );
}

#[test]
fn stores_and_model_agree_on_lost_claims_and_lost_answers() {
    let events = ["commit ClaimLost", "claim crashed twice", "reap swept", "reclaim swept", "renew lost"];
    came_to(&runner::run(Mix::Losses, 15), &[&events[..], &["renew one true", "renew one false"]].concat());
}

/// A comparison of histories in which nothing happens proves nothing.
fn came_to(seen: &Seen, events: &[&str]) {
    println!("{seen:#?}");
    for event in events {
        assert!(seen.contains_key(*event), "no history came to: {event}");
    }
}
