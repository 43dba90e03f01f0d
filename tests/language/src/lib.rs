//! The language of gen-durable, without a database: a runner in memory, which drives what the macros generated.
//!
//! `cargo test -p language` builds it alone, without a store; together with other members of the workspace cargo
//! unifies features.

pub mod cargo;
pub mod compile;
pub mod skip;

use std::{
    any::{Any, TypeId},
    collections::VecDeque,
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use gen_durable::{
    Cancel, ChildCounts, ChildResult, ChildSource, ContextParts, InstanceId, Machine, Signal, Startable, StepContext,
    StepError,
};
use gen_durable_runtime::{
    machine::{
        MachineInfo, PageFuture,
        registry::{self, AnyHandler, MachineRegistration, Ran, Run, Stored},
    },
    model::{AwaitMode, Entry, FailureKind, Json, ReceivedSignal, StartSpec, Verdict, Wait, Wake},
};

/// Runs a future that never really waits.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a test's future waits"),
    }
}

/// How an instance ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With its result.
    Done(Json),
    /// As failed.
    Failed(String),
}

/// An instance in memory.
#[derive(Debug)]
pub struct Instance {
    machine: &'static MachineRegistration,
    /// Stored step.
    pub step: String,
    /// Step data.
    pub state: Json,
    /// Facts all steps share.
    pub carry: Option<Json>,
    /// Business key.
    pub key: Option<String>,
    /// Errors of this visit.
    pub attempt: u32,
    /// Transitions so far.
    pub transitions: i64,
    /// As the step was entered.
    pub entry: Entry,
    /// Children of the last fan-out.
    pub children: Vec<StartSpec>,
    /// Spawned so far.
    pub spawned: Vec<StartSpec>,
    /// How it ended.
    pub end: Option<End>,
    /// Errors so far.
    pub errors: Vec<String>,
    inbox: VecDeque<ReceivedSignal>,
    timed_out: bool,
    results: Arc<Children>,
}

#[derive(Debug, Default)]
struct Children(Vec<(&'static str, ChildResult)>);

impl ChildSource for Children {
    fn counts(&self, machine: &'static MachineInfo) -> ChildCounts {
        let of = |ok: bool| self.0.iter().filter(|(m, c)| *m == machine.name && c.result.is_ok() == ok).count() as u64;
        ChildCounts::new(of(true) + of(false), of(true), of(false))
    }
    fn page(&self, machine: &'static MachineInfo, after: i64) -> PageFuture {
        let page = self.0.iter().filter(|(m, c)| *m == machine.name && i64::from(c.index) > after);
        let ended = page.map(|(_, c)| c.clone()).collect();
        Box::pin(std::future::ready(Ok(ended)))
    }
}

fn registered(name: &str, version: i32) -> &'static MachineRegistration {
    let is = |m: &&MachineRegistration| (m.info)().name == name && (m.info)().version == version;
    registry::machines().find(is).expect("a registered machine")
}

impl Instance {
    /// Starts one.
    pub fn start(start: impl Startable) -> Self {
        Self::of(start.into_spec().expect("a storable start"))
    }

    /// Starts one from its description.
    pub fn of(spec: StartSpec) -> Self {
        Self {
            machine: registered(spec.machine, spec.version),
            step: spec.entry.step.into(),
            state: spec.entry.state.clone(),
            carry: spec.carry,
            key: spec.key,
            attempt: 0,
            transitions: 0,
            entry: spec.entry,
            children: vec![],
            spawned: vec![],
            end: None,
            errors: vec![],
            inbox: VecDeque::new(),
            timed_out: false,
            results: Arc::default(),
        }
    }

    /// The concurrency key it stands under.
    pub fn concurrency(&self) -> Option<String> {
        self.entry.concurrency.as_ref().map(|slot| slot.key.clone())
    }

    /// Delivers a signal.
    pub fn send<G: Signal>(&mut self, signal: &G) {
        let (id, payload) = (0, signal.payload().expect("a storable signal"));
        self.inbox.push_back(ReceivedSignal { id, name: G::NAME.into(), payload });
    }

    /// Ends the wait.
    pub fn time_out(&mut self) {
        self.timed_out = true;
    }

    /// Its result.
    pub fn result<M: Machine>(&self) -> M::Output {
        match &self.end {
            Some(End::Done(json)) => M::load_output(json).expect("a result that decodes"),
            other => panic!("it did not end with a result: {other:?}, {:?}", self.errors),
        }
    }

    /// Runs the children of the last fan-out to their end.
    pub fn run_children<E: Any + Send + Sync>(&mut self, handler: &Arc<E>) {
        let mut ended = vec![];
        for ((id, index), spec) in (1..).zip(0..).zip(std::mem::take(&mut self.children)) {
            let machine = spec.machine;
            let mut child = Self::of(spec);
            child.run(handler);
            let result = match child.end {
                Some(End::Done(json)) => Ok(json),
                Some(End::Failed(reason)) => Err(reason),
                None => panic!("a child parks"),
            };
            ended.push((machine, ChildResult { id: InstanceId::new(id), index, result }));
        }
        self.results = Arc::new(Children(ended));
    }

    /// Runs until it parks or ends. A join parks until `run_children`.
    pub fn run<E: Any + Send + Sync>(&mut self, handler: &Arc<E>) {
        while self.end.is_none() {
            let Some(wake) = self.wake() else { return };
            let (handler, transitions) = (handler.clone(), self.transitions);
            self.run_once::<E>(handler, wake);
            if self.transitions != transitions && !self.children.is_empty() {
                return;
            }
        }
    }

    fn wake(&mut self) -> Option<Wake> {
        let Some(wait) = &self.entry.wait else { return Some(Wake::Ready) };
        let found = matching(wait, &self.inbox);
        let enough = found.len() >= needed(wait);
        (enough || std::mem::take(&mut self.timed_out))
            .then(|| Wake::Signals(found.iter().map(|at| self.inbox[*at].clone()).collect()))
    }

    fn run_once<E: Any + Send + Sync>(&mut self, handler: Arc<E>, wake: Wake) {
        let type_id = (self.machine.type_id)();
        let serves = registry::handlers().find(|h| (h.machine)() == type_id && (h.handler)().0 == TypeId::of::<E>());
        let context = StepContext::new(ContextParts {
            id: InstanceId::new(1),
            attempt: self.attempt,
            transitions: self.transitions,
            database_now: jiff::Timestamp::UNIX_EPOCH,
            cancel: Cancel::new(),
        });
        let context = context.with_children(self.results.clone());
        let step = (self.machine.info)().step(&self.step).expect("a known step").name;
        let run = Run { step, state: self.state.clone(), carry: self.carry.clone(), wake, context };
        let any: AnyHandler = handler;
        match block_on((serves.expect("a registered handler").run)(any, run)) {
            Ok(ran) => self.commit(ran),
            Err(error) => self.fail(error),
        }
    }

    fn commit(&mut self, ran: Ran) {
        self.children = ran.effects.children;
        self.spawned.extend(ran.effects.spawned);
        match ran.verdict {
            Verdict::Goto { entry, carry, .. } => self.enter(entry, carry),
            Verdict::RetryIn(_) => self.attempt += 1,
            Verdict::Done { result, carry } => (self.end, self.carry) = (Some(End::Done(result)), carry),
            Verdict::Fail { reason, carry } => (self.end, self.carry) = (Some(End::Failed(reason)), carry),
        }
    }

    fn enter(&mut self, entry: Entry, carry: Option<Json>) {
        if let Some(wait) = &self.entry.wait {
            let consumed = matching(wait, &self.inbox);
            consumed.iter().rev().for_each(|at| {
                self.inbox.remove(*at);
            });
        }
        (self.step, self.state, self.carry) = (entry.step.into(), entry.state.clone(), carry);
        (self.entry, self.attempt, self.transitions) = (entry, 0, self.transitions + 1);
    }

    fn fail(&mut self, error: StepError) {
        let policy = (self.machine.info)().step(&self.step).expect("a known step").retry;
        let failure = error.into_failure();
        self.errors.push(failure.error.clone());
        self.attempt += 1;
        if !failure.permanent && failure.kind == FailureKind::Error && self.attempt < policy.attempts {
            return;
        }
        let stored = Stored { step: self.step.clone(), state: self.state.clone(), carry: self.carry.clone() };
        match (self.machine.catch)(stored, &failure, self.attempt) {
            Some(Ok((entry, carry))) => self.enter(entry, carry),
            Some(Err(error)) => self.end = Some(End::Failed(error.into_failure().error)),
            None => self.end = Some(End::Failed(failure.error)),
        }
    }
}

fn needed(wait: &Wait) -> usize {
    match wait.mode {
        AwaitMode::Any | AwaitMode::AnyBiased => 1,
        AwaitMode::All => wait.names.len(),
        AwaitMode::Count(n) => n as usize,
    }
}

/// Places in the inbox: the oldest match, the first of the list, one of each, or all.
fn matching(wait: &Wait, inbox: &VecDeque<ReceivedSignal>) -> Vec<usize> {
    let named = |name: &str| inbox.iter().position(|s| s.name == name);
    let any = inbox.iter().position(|s| wait.names.contains(&&*s.name));
    let mut found: Vec<usize> = match wait.mode {
        AwaitMode::Any => any.into_iter().collect(),
        AwaitMode::AnyBiased => wait.names.iter().find_map(|n| named(n)).into_iter().collect(),
        AwaitMode::All => wait.names.iter().filter_map(|n| named(n)).collect(),
        AwaitMode::Count(n) => {
            let all = (0..inbox.len()).filter(|at| wait.names.contains(&&*inbox[*at].name));
            all.take(n as usize).collect()
        }
    };
    found.sort_unstable();
    found
}
