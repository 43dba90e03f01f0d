use gen_durable_runtime::model::AwaitMode;
use proptest::{option, prelude::*, sample::select, strategy::Union};
use serde_json::Value;

use super::{Beside, Ending, EntryPlan, Rule, SignalPlan, StartPlan, Step, When, Whom, pools};

/// What a history is about: how often which steps come.
#[derive(Debug, Clone, Copy)]
pub enum Mix {
    /// Everything.
    All,
    /// Waits, signals and time.
    Waits,
    /// Lost claims, crashes, lost answers.
    Losses,
    /// Fan-outs, and what they come to.
    Families,
}

/// Steps of a mix, after a first few instances.
pub fn history(mix: Mix, steps: usize) -> impl Strategy<Value = Vec<Step>> {
    let first = prop::collection::vec(start_plan(), 1..10).prop_map(Step::Start);
    let rest = prop::collection::vec(phrase(mix), 0..=steps);
    (first, rest).prop_map(|(first, rest)| std::iter::once(first).chain(rest.into_iter().flatten()).collect())
}

/// A step, or steps that rarely come together by chance.
fn phrase(mix: Mix) -> impl Strategy<Value = Vec<Step>> {
    let [outages, second_thoughts, families, parts] = match mix {
        Mix::All => [1, 1, 3, 1],
        Mix::Waits => [1, 3, 0, 4],
        Mix::Losses => [4, 1, 3, 0],
        Mix::Families => [1, 0, 15, 0],
    };
    prop_oneof![
        60 => step(mix).prop_map(|step| vec![step]),
        outages => outage(),
        second_thoughts => second_thought(),
        families => family(),
        parts => part(),
    ]
}

/// Everything that executes is lost at once.
fn outage() -> impl Strategy<Value = Vec<Step>> {
    claim_step().prop_map(|claim| vec![claim, Step::Pass(3), Step::Reap(100)])
}

/// Some fan out, their children are claimed and end, and what they waited for runs: or their time is up before that.
fn family() -> impl Strategy<Value = Vec<Step>> {
    let fans = prop::collection::vec((any::<u8>(), fan_out(), beside()), 1..4).prop_map(Step::Commit);
    let ends = |done| prop::collection::vec((any::<u8>(), end_of_child(done), beside()), 3..8).prop_map(Step::Commit);
    // Some families fail as a whole.
    let ends = prop_oneof![2 => ends(4), 1 => ends(0)];
    let late = prop::bool::weighted(0.3);
    (claim_step(), fans, all_of("q"), ends, claim_step(), late, children_step()).prop_map(
        |(first, fans, children, ends, parents, late, look)| {
            let mut steps = vec![first, fans, children];
            if late {
                steps.extend([Step::Pass(3), Step::EndWaits(100), parents.clone()]);
            }
            steps.extend([ends, parents, look]);
            steps
        },
    )
}

/// Of so many with a result one fails.
fn end_of_child(done: u32) -> impl Strategy<Value = Ending> {
    let done = (done.max(1), 1 + u32::from(done == 0) * 100);
    prop_oneof![
        done.0 => (value(), carry()).prop_map(|(result, carry)| Ending::Done { result, carry }),
        done.1 => (select(pools::TEXTS), carry()).prop_map(|(reason, carry)| Ending::Fail { reason, carry }),
    ]
}

fn fan_out() -> impl Strategy<Value = Ending> {
    let children = prop::collection::vec(prop_oneof![2 => plain_start(), 1 => start_plan()], 0..6);
    let quorum = option::weighted(0.5, select(pools::QUORUMS));
    (entry(), children, quorum, option::weighted(0.5, when()))
        .prop_map(|(entry, children, quorum, deadline)| Ending::FanOut { entry, children, quorum, deadline })
}

/// One that can be claimed at once.
fn plain_start() -> impl Strategy<Value = StartPlan> {
    start_plan().prop_map(|s| {
        let entry = EntryPlan { rule: Rule::Plain, queue: None, slot: None, ..s.entry };
        StartPlan { delay: 0, queue: None, entry, ..s }
    })
}

/// One of several that it waits for has come when its time is up.
fn part() -> impl Strategy<Value = Vec<Step>> {
    let several = || pools::WAITS.iter().filter(|w| !matches!(w.2, AwaitMode::Any | AwaitMode::AnyBiased));
    let waits = (plain_start(), select(several().collect::<Vec<_>>())).prop_map(|(s, wait)| {
        let rule = Rule::Wait(wait, Some(When::In(1)));
        StartPlan { entry: EntryPlan { rule, ..s.entry }, key: None, ..s }
    });
    let signal = (signal_plan(), Just(Whom::One(0))).prop_map(|(s, target)| SignalPlan { target, dedup: None, ..s });
    (waits, prop::collection::vec(signal, 1..4), all_of("q")).prop_map(|(waits, signals, claim)| {
        vec![Step::Start(vec![waits]), Step::Signal(signals), Step::Pass(2), Step::EndWaits(100), claim]
    })
}

fn beside() -> impl Strategy<Value = Beside> {
    let some = |weight| prop_oneof![weight => Just(0usize), 1 => Just(1), 1 => Just(2)];
    let spawned = some(8).prop_flat_map(|n| prop::collection::vec(start_plan(), n));
    let signals = some(6).prop_flat_map(|n| prop::collection::vec(signal_plan(), n));
    (spawned, signals).prop_map(|(spawned, signals)| Beside { spawned, signals })
}

fn all_of(queue: &'static str) -> impl Strategy<Value = Step> {
    select(pools::WORKERS).prop_map(move |worker| Step::Claim {
        queue,
        limit: 20,
        worker,
        knows: 0,
        crashed: true,
        lease: 2,
    })
}

fn children_step() -> impl Strategy<Value = Step> {
    (any::<u8>(), 0..3u8, any::<bool>(), -1..4i64, select(vec![1u32, 100, 100]))
        .prop_map(|(of, back, machine, after, limit)| Step::Children { of, back, machine, after, limit })
}

/// A wait has timed out, its visit is not over, and then comes what it waited for.
fn second_thought() -> impl Strategy<Value = Vec<Step>> {
    let retries = prop::collection::vec((any::<u8>(), Just(Ending::RetryIn(0)), Just(Beside::default())), 1..4)
        .prop_map(Step::Commit);
    let signals = prop::collection::vec(signal_plan(), 4..9).prop_map(Step::Signal);
    (claim_step(), retries, signals, claim_step()).prop_map(|(claim, retries, signals, again)| {
        vec![Step::Pass(3), Step::EndWaits(100), claim, retries, signals, again]
    })
}

fn step(mix: Mix) -> impl Strategy<Value = Step> {
    // Starts, claims, commits, signals, hours, ended waits, reaps; lost answers and processes; renewals; looks; others'.
    let [start, claim, commit, signal, pass, waits, reap, lost, renew, look, foreign] = match mix {
        Mix::All => [8, 12, 10, 6, 3, 3, 2, 2, 1, 1, 1],
        Mix::Waits => [6, 12, 10, 10, 4, 4, 1, 1, 0, 1, 0],
        Mix::Losses => [6, 18, 10, 2, 7, 1, 6, 4, 5, 1, 0],
        Mix::Families => [3, 14, 12, 3, 3, 3, 2, 2, 0, 1, 1],
    };
    let mut steps = vec![
        (start, prop::collection::vec(start_plan(), 1..6).prop_map(Step::Start).boxed()),
        (claim, claim_step().boxed()),
        (commit, prop::collection::vec((any::<u8>(), ending(), beside()), 1..8).prop_map(Step::Commit).boxed()),
        (signal, prop::collection::vec(signal_plan(), 1..5).prop_map(Step::Signal).boxed()),
        (pass, (1..4u8).prop_map(Step::Pass).boxed()),
        (waits, limit().prop_map(Step::EndWaits).boxed()),
        (reap, limit().prop_map(Step::Reap).boxed()),
        (lost, Just(Step::Resend).boxed()),
        (lost, any::<u8>().prop_map(Step::Crash).boxed()),
        (renew, (1..4u8).prop_map(|lease| Step::Renew { lease }).boxed()),
        (renew, (any::<u8>(), 1..4u8).prop_map(|(claim, lease)| Step::RenewOne { claim, lease }).boxed()),
        (renew, select(pools::WORKERS).prop_map(Step::Reclaim).boxed()),
        (look, Just(Step::Owners).boxed()),
        (look, Just(Step::Endings).boxed()),
        (look, whom().prop_map(Step::Show).boxed()),
        (look * 2, list_step().boxed()),
        (look * 2, children_step().boxed()),
        (look, (any::<u8>(), 0..3u32, 1..9u32).prop_map(|(of, skip, limit)| Step::History { of, skip, limit }).boxed()),
        (look, (0..3u8, limit()).prop_map(|(hours, limit)| Step::Forget { hours, limit }).boxed()),
        (
            look * 3,
            (0..3u8, select(vec![0xffu8, 0xff, 0x3f, 0x33, 0xcc]))
                .prop_map(|(hours, which)| Step::Purge { hours, which })
                .boxed(),
        ),
        (foreign, any::<u8>().prop_map(Step::MakeForeign).boxed()),
    ];
    steps.retain(|(weight, _)| *weight > 0);
    Union::new_weighted(steps)
}

fn limit() -> impl Strategy<Value = u32> {
    select(vec![1u32, 2, 100, 100])
}

fn claim_step() -> impl Strategy<Value = Step> {
    let knows = 0..pools::KNOWN.len();
    let crashed = prop::bool::weighted(0.8);
    (select(pools::QUEUES), 1..12u32, select(pools::WORKERS), knows, crashed, 1..3u8).prop_map(
        |(queue, limit, worker, knows, crashed, lease)| Step::Claim { queue, limit, worker, knows, crashed, lease },
    )
}

fn list_step() -> impl Strategy<Value = Step> {
    (0..6u8, any::<u8>(), option::of(any::<u8>()), 0..4u32).prop_map(|(by, value, before, limit)| Step::List {
        by,
        value,
        before,
        limit,
    })
}

fn start_plan() -> impl Strategy<Value = StartPlan> {
    let key = option::weighted(0.25, select(pools::KEYS));
    let place = (option::weighted(0.3, select(pools::QUEUES)), option::weighted(0.3, select(pools::PRIORITIES)));
    let delay = prop_oneof![2 => Just(0u8), 1 => 1..4u8];
    let rest = (key, prop::bool::weighted(0.3), delay, place);
    (select(pools::MACHINES), entry(), carry(), rest).prop_map(
        |(machine, entry, carry, (key, key_kept, delay, (queue, priority)))| StartPlan {
            machine,
            entry,
            carry,
            key,
            key_kept,
            delay,
            queue,
            priority,
        },
    )
}

fn signal_plan() -> impl Strategy<Value = SignalPlan> {
    let dedup = option::weighted(0.4, select(pools::DEDUPS));
    (whom(), select(pools::SIGNALS), value(), dedup).prop_map(|(target, name, payload, dedup)| SignalPlan {
        target,
        name,
        payload,
        dedup,
    })
}

fn whom() -> impl Strategy<Value = Whom> {
    prop_oneof![
        16 => any::<u8>().prop_map(Whom::One),
        3 => select(pools::KEYS).prop_map(Whom::Key),
        1 => Just(Whom::Nobody),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    let goto = (entry(), delay(), carry(), prop::bool::weighted(0.7))
        .prop_map(|(entry, delay, carry, may_continue)| Ending::Goto { entry, delay, carry, may_continue });
    let error = (select(pools::TEXTS), prop::bool::weighted(0.3), option::of(entry()))
        .prop_map(|(text, permanent, catch)| Ending::Error { text, permanent, catch });
    prop_oneof![
        8 => goto,
        3 => fan_out(),
        2 => (0..3u8).prop_map(Ending::RetryIn),
        3 => error,
        2 => (value(), carry()).prop_map(|(result, carry)| Ending::Done { result, carry }),
        1 => (select(pools::TEXTS), carry()).prop_map(|(reason, carry)| Ending::Fail { reason, carry }),
        1 => Just(Ending::Release),
    ]
}

fn entry() -> impl Strategy<Value = EntryPlan> {
    let rule = prop_oneof![
        6 => Just(Rule::Plain),
        1 => prop_oneof![8 => when(), 1 => Just(When::Ever)].prop_map(Rule::Timer),
        4 => (0..pools::WAITS.len(), option::of(when())).prop_map(|(at, when)| Rule::Wait(&pools::WAITS[at], when)),
    ];
    let place = (option::weighted(0.15, select(pools::QUEUES)), option::weighted(0.15, select(pools::PRIORITIES)));
    (select(pools::STEPS), value(), rule, place, option::weighted(0.3, select(pools::SLOTS)))
        .prop_map(|(step, state, rule, (queue, priority), slot)| EntryPlan { step, state, rule, queue, priority, slot })
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![6 => (0..4u8).prop_map(When::In), 3 => (-2..4i8).prop_map(When::At), 1 => Just(When::Never)]
}

fn delay() -> impl Strategy<Value = u8> {
    prop_oneof![5 => Just(0u8), 1 => 1..4u8]
}

fn carry() -> impl Strategy<Value = Option<Value>> {
    option::weighted(0.3, value())
}

fn value() -> impl Strategy<Value = Value> {
    select(pools::values())
}
