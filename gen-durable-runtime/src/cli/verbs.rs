//! What each verb does.

use std::{collections::BTreeSet, rc::Rc, time::Duration};

use super::{
    args::{Cli, Global, GraphFormat, ListArgs, RunArgs, StartArgs, Verb},
    control, copy, graph, limits, log, print,
    program::Program,
    queues, restart, schedules,
};
use crate::{
    Error,
    client::Client,
    machine::{
        ChildCounts, ExitInfo, ExitKind, MachineInfo, StepInfo,
        registry::{self, MachineRegistration},
    },
    model::{HistoryEntry, InstanceId, Json, Reason, SignalSpec, Snapshot, StartSpec, Status, Target},
    store::{Delivered, Filter, Migration},
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// How long the end of a program waits for its connections.
const CLOSE: Duration = Duration::from_secs(5);

pub(super) async fn run(program: &Rc<Program>, cli: Cli) -> Result<(), Fault> {
    let Cli { global, verb } = cli;
    let verb = verb.unwrap_or_else(|| Verb::Run(RunArgs::default()));
    log::init(global.log, if matches!(verb, Verb::Run(_)) { "info" } else { "warn" });
    match verb {
        Verb::Run(args) => work(program, &global, args).await,
        Verb::Machines => machines(global.json),
        Verb::Graph { machine, format } => draw(machine.as_deref(), format),
        Verb::Migrate { to, allow_rewrite } => {
            let client = program.open(&global)?;
            let done = migrate(&client, Migration { to, allow_rewrite }).await;
            close(&client).await;
            done
        }
        Verb::Copy(args) => copy::run(args, &global).await,
        Verb::Start(args) => {
            let spec = start_spec(args)?;
            with_client(program, &global, async |client| start(client, spec, global.json).await).await
        }
        Verb::Signal { target, name, payload, dedup } => {
            is_awaited(&name)?;
            let payload = Json::parse("payload", payload)?;
            let spec = SignalSpec { target: address(&target)?, name, payload, dedup };
            spec.check()?;
            with_client(program, &global, async |client| signal(client, spec, global.json).await).await
        }
        Verb::Show { target } => {
            let address = address(&target)?;
            with_client(program, &global, async |client| show(client, &target, &address, global.json).await).await
        }
        Verb::Restart { target, step, state } => {
            let (address, json) = (address(&target)?, global.json);
            let verb = async |client: &Client| {
                let original = shown(client, &target, &address).await?;
                restart::restart(client, &original, &step, state.as_deref(), json).await
            };
            with_client(program, &global, verb).await
        }
        Verb::Cancel { which, reason } => {
            let target = which.target.as_deref().map(address).transpose()?;
            let json = global.json;
            with_client(program, &global, async |client| control::cancel(client, which, target, &reason, json).await)
                .await
        }
        Verb::Retry { which } => {
            let target = which.target.as_deref().map(address).transpose()?;
            with_client(program, &global, async |client| control::retry(client, which, target, global.json).await).await
        }
        Verb::Schedules { verb } => {
            with_client(program, &global, async |client| schedules::run(client, verb, global.json).await).await
        }
        Verb::Workers => with_client(program, &global, async |client| workers(client, global.json).await).await,
        Verb::Limits { verb } => {
            with_client(program, &global, async |client| limits::run(client, verb, global.json).await).await
        }
        Verb::Queues { verb } => {
            with_client(program, &global, async |client| queues::run(client, verb, global.json).await).await
        }
        Verb::List(args) => with_client(program, &global, async |client| list(client, args, global.json).await).await,
    }
}

async fn with_client<F>(program: &Rc<Program>, global: &Global, verb: F) -> Result<(), Fault>
where
    F: AsyncFnOnce(&Client) -> Result<(), Fault>,
{
    let client = program.open(global)?;
    client.check().await?;
    let done = verb(&client).await;
    close(&client).await;
    done
}

/// Sends the wake-ups that are still on their way, and leaves one whole file: this process ends at once. A database
/// that does not answer holds nobody up.
async fn close(client: &Client) {
    let _ = tokio::time::timeout(CLOSE, client.close()).await;
}

async fn work(program: &Rc<Program>, global: &Global, args: RunArgs) -> Result<(), Fault> {
    let client = program.open(global)?;
    // Before the handlers connect: they may want to read what stands.
    if !args.no_migrate {
        client.migrate(Migration::default()).await?;
    }
    let mut worker = program.worker(&client).await?.without_migration();
    for (queue, steps) in args.queue {
        worker = worker.queue(queue, steps);
    }
    for (queue, weight) in args.weight {
        worker = worker.weight(queue, weight);
    }
    worker = args.concurrency.into_iter().fold(worker, |w, steps| w.concurrency(steps));
    if args.only {
        worker = worker.only_these_queues();
    }
    worker = args.drain.into_iter().fold(worker, |w, drain| w.drain(drain));
    worker = args.lease.into_iter().fold(worker, |w, lease| w.lease(lease));
    worker = args.poll.into_iter().fold(worker, |w, poll| w.poll(poll));
    if args.keep_done.is_some() || args.keep_failed.is_some() {
        worker = worker.retention(args.keep_done, args.keep_failed);
    }
    let worked = worker.run().await;
    close(&client).await;
    Ok(worked?)
}

async fn migrate(client: &Client, migration: Migration) -> Result<(), Fault> {
    let lines = client.migrate(migration).await?;
    if lines.is_empty() {
        print::line("nothing to do: the schema is as asked for");
    }
    lines.into_iter().for_each(print::line);
    Ok(())
}

fn infos() -> Vec<&'static MachineInfo> {
    let mut infos: Vec<_> = registry::machines().map(|m| (m.info)()).collect();
    infos.sort_by_key(|m| (m.name, m.version));
    infos
}

fn machines(json: bool) -> Result<(), Fault> {
    let infos = infos();
    if !json {
        print::machines(&infos);
        return Ok(());
    }
    for m in infos {
        let steps: Vec<_> = m
            .steps
            .iter()
            .map(|s| serde_json::json!({"name": s.name, "start": s.start, "next": s.next, "done": s.done}))
            .collect();
        print::json(&serde_json::json!({
            "machine": m.name, "version": m.version, "queue": m.queue, "rust_path": m.rust_path, "steps": steps
        }));
    }
    Ok(())
}

fn draw(machine: Option<&str>, format: GraphFormat) -> Result<(), Fault> {
    let infos: Vec<_> = infos().into_iter().filter(|m| machine.is_none_or(|name| m.name == name)).collect();
    if infos.is_empty() {
        return Err(unknown_machine(machine.unwrap_or_default()));
    }
    for info in infos {
        let text = match format {
            GraphFormat::Mermaid => graph::mermaid(info),
            GraphFormat::Dot => graph::dot(info),
        };
        print::line(text.trim_end());
    }
    Ok(())
}

fn start_spec(args: StartArgs) -> Result<StartSpec, Fault> {
    let registered = newest(&args.machine)?;
    let spec = (registered.start)(args.step.as_deref(), &args.state, args.carry.as_deref());
    let mut spec = spec.map_err(|error| error.to_string())?;
    spec.delay = args.delay.unwrap_or_default();
    spec.priority = args.priority;
    spec.queue = args.queue;
    spec.check()?;
    Ok(spec)
}

async fn start(client: &Client, spec: StartSpec, json: bool) -> Result<(), Fault> {
    let started = client.start_specs(&[spec]).await?;
    let (id, new) = started.first().map(|s| (s.id(), s.is_new())).ok_or_else(Error::stopped)?;
    match (json, new) {
        (true, _) => print::json(&serde_json::json!({"id": id, "new": new})),
        (false, true) => print::line(format!("started instance {id}")),
        (false, false) => print::line(format!("not started: instance {id} has this business key")),
    }
    Ok(())
}

async fn signal(client: &Client, spec: SignalSpec, json: bool) -> Result<(), Fault> {
    let delivered = client.signal_specs(&[spec]).await?;
    let (id, new) = match delivered.first().copied() {
        Some(Delivered::New(id)) => (id, true),
        Some(Delivered::Duplicate(id)) => (id, false),
        Some(Delivered::NoTarget) | None => return Err(Error::no_target().into()),
    };
    match (json, new) {
        (true, _) => print::json(&serde_json::json!({"id": id, "new": new})),
        (false, true) => print::line(format!("delivered to instance {id}")),
        (false, false) => print::line(format!("not delivered again: instance {id} had a signal with this dedup key")),
    }
    Ok(())
}

/// No machine of this binary awaits it: it would sit in the inbox unread.
fn is_awaited(name: &str) -> Result<(), Fault> {
    let of_step = |s: &'static StepInfo| s.awaits.iter().flat_map(|a| a.signals.iter().flat_map(|names| names.iter()));
    let of_exit = |e: &'static ExitInfo| match e.kind {
        ExitKind::Signal(names) => names,
        ExitKind::Catch | ExitKind::Cancel | ExitKind::Deadline => &[],
    };
    let awaited = |m: &'static MachineInfo| m.steps.iter().flat_map(of_step).chain(m.exits.iter().flat_map(of_exit));
    let known: BTreeSet<&str> = infos().into_iter().flat_map(awaited).copied().collect();
    if known.contains(name) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    Err(format!("no machine of this binary awaits a signal {name:?}; they await {}", known.join(", ")).into())
}

async fn shown(client: &Client, target: &str, address: &Target) -> Result<Snapshot, Fault> {
    client.show(address).await.map_err(|error| {
        // The person typed the key: it is no secret here.
        match (error.is_not_found(), address) {
            (true, Target::Id(_)) => format!("no instance {target}").into(),
            (true, Target::Key(_)) => format!(
                "no instance has the key {target} now; one that ended may have given it up: `list` shows its id"
            )
            .into(),
            (false, _) => error.into(),
        }
    })
}

async fn show(client: &Client, target: &str, address: &Target, json: bool) -> Result<(), Fault> {
    let shown = shown(client, target, address).await?;
    let history = client.history(shown.id).await?;
    let children = match shown.status {
        Status::AwaitingChildren => Some(client.children(shown.id).counts().await?),
        Status::Runnable | Status::Executing | Status::AwaitingSignal | Status::Done | Status::Failed => None,
    };
    let why = client.why_of(&shown).await?;
    if json {
        print::json(&Shown { instance: &shown, children: children.map(Waiting::for_), why: &why, history: &history })
    } else {
        print::instance(&shown, children, &why);
        print::timeline(shown.inserted_at, &history);
    }
    Ok(())
}

/// What `show --json` prints.
#[derive(serde::Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    instance: &'a Snapshot,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Waiting>,
    why: &'a [Reason],
    history: &'a [HistoryEntry],
}

/// The children that it waits for.
#[derive(serde::Serialize)]
struct Waiting {
    pending: u64,
    done: u64,
    failed: u64,
}

impl Waiting {
    fn for_(children: ChildCounts) -> Self {
        Self { pending: children.pending(), done: children.done, failed: children.failed }
    }
}

async fn list(client: &Client, args: ListArgs, json: bool) -> Result<(), Fault> {
    let ListArgs { machine, status, queue, step, limit, before } = args;
    let before = before.map(InstanceId::new);
    let page = client.list(Filter { machine, status, queue, step, before, limit }).await?;
    if json {
        page.iter().for_each(print::json)
    } else {
        print::list(&page)
    }
    Ok(())
}

async fn workers(client: &Client, json: bool) -> Result<(), Fault> {
    let workers = client.workers().await?;
    if json {
        workers.iter().for_each(print::json)
    } else {
        print::workers(&workers)
    }
    Ok(())
}

/// A number is an id; a business key always has its machine's name in front.
fn address(text: &str) -> Result<Target, Fault> {
    match (text.parse::<InstanceId>(), text.contains(':')) {
        (Ok(id), _) => Ok(Target::Id(id)),
        (Err(_), true) => Ok(Target::Key(text.into())),
        (Err(_), false) => Err(format!("{text:?} is neither an id nor a business key such as checkout:42").into()),
    }
}

pub(super) fn newest(machine: &str) -> Result<&'static MachineRegistration, Fault> {
    registry::newest(machine).ok_or_else(|| unknown_machine(machine))
}

fn unknown_machine(name: &str) -> Fault {
    let known: Vec<&str> = infos().iter().map(|m| m.name).collect();
    match known.as_slice() {
        [] => "no machine is linked into this binary".into(),
        known => format!("no machine is named {name:?}; this binary has {}", known.join(", ")).into(),
    }
}
