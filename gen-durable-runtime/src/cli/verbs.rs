//! What each verb does.

use std::rc::Rc;

use super::{
    args::{Cli, Global, GraphFormat, ListArgs, RunArgs, StartArgs, Verb},
    graph, log, print,
    program::Program,
};
use crate::{
    Error,
    client::Client,
    machine::{
        MachineInfo,
        registry::{self, MachineRegistration},
    },
    model::{InstanceId, Json, SignalSpec, Target},
    store::{Delivered, Filter, Migration},
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

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
            migrate(&client, Migration { to, allow_rewrite }).await
        }
        Verb::Start(args) => start(&connected(program, &global).await?, args, global.json).await,
        Verb::Signal { target, name, payload, dedup } => {
            let payload = Json::parse("payload", payload)?;
            let spec = SignalSpec { target: address(&target)?, name, payload, dedup };
            signal(&connected(program, &global).await?, spec, global.json).await
        }
        Verb::Show { target } => {
            let shown = connected(program, &global).await?.show(&address(&target)?).await?;
            if global.json {
                print::json(&shown)
            } else {
                print::instance(&shown)
            }
            Ok(())
        }
        Verb::List(args) => list(&connected(program, &global).await?, args, global.json).await,
    }
}

async fn connected(program: &Rc<Program>, global: &Global) -> Result<Client, Fault> {
    let client = program.open(global)?;
    client.check().await?;
    Ok(client)
}

async fn work(program: &Rc<Program>, global: &Global, args: RunArgs) -> Result<(), Fault> {
    let client = program.open(global)?;
    // Before the handlers connect: they may want to read what stands.
    if !args.no_migrate {
        for line in client.migrate(Migration::default()).await? {
            tracing::info!("{line}");
        }
    }
    let mut worker = program.worker(&client).await?.without_migration();
    for (queue, steps) in args.queue {
        worker = worker.queue(queue, steps);
    }
    if args.only {
        worker = worker.only_these_queues();
    }
    worker = args.drain.into_iter().fold(worker, |w, drain| w.drain(drain));
    worker = args.lease.into_iter().fold(worker, |w, lease| w.lease(lease));
    worker = args.poll.into_iter().fold(worker, |w, poll| w.poll(poll));
    Ok(worker.run().await?)
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

async fn start(client: &Client, args: StartArgs, json: bool) -> Result<(), Fault> {
    let registered = newest(&args.machine)?;
    let spec = (registered.start)(args.step.as_deref(), &args.state, args.carry.as_deref());
    let mut spec = spec.map_err(|error| error.to_string())?;
    spec.delay = args.delay.unwrap_or_default();
    spec.priority = args.priority;
    spec.queue = args.queue;
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

/// A number is an id; a business key always has its machine's name in front.
fn address(text: &str) -> Result<Target, Fault> {
    match (text.parse::<InstanceId>(), text.contains(':')) {
        (Ok(id), _) => Ok(Target::Id(id)),
        (Err(_), true) => Ok(Target::Key(text.into())),
        (Err(_), false) => Err(format!("{text:?} is neither an id nor a business key such as checkout:42").into()),
    }
}

fn newest(machine: &str) -> Result<&'static MachineRegistration, Fault> {
    let named = registry::machines().filter(|m| (m.info)().name == machine);
    named.max_by_key(|m| (m.info)().version).ok_or_else(|| unknown_machine(machine))
}

fn unknown_machine(name: &str) -> Fault {
    let known: Vec<&str> = infos().iter().map(|m| m.name).collect();
    match known.as_slice() {
        [] => "no machine is linked into this binary".into(),
        known => format!("no machine is named {name:?}; this binary has {}", known.join(", ")).into(),
    }
}
