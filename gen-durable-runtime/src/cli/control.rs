//! The verbs that end instances, or let them go on.

use super::{args::WhichArgs, print};
use crate::{
    client::Client,
    model::{InstanceId, Target},
    store::Filter,
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// What a verb did: a line each for a person, or one object.
#[derive(serde::Serialize)]
struct Did {
    dry_run: bool,
    instances: Vec<InstanceId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<InstanceId>,
}

fn filter(which: &WhichArgs) -> Filter {
    let WhichArgs { machine, queue, step, .. } = which;
    Filter { machine: machine.clone(), queue: queue.clone(), step: step.clone(), ..Filter::default() }
}

pub(super) async fn cancel(
    client: &Client,
    which: WhichArgs,
    address: Option<Target>,
    reason: &str,
    json: bool,
) -> Result<(), Fault> {
    let dry_run = which.dry_run;
    let instances = match address {
        Some(target) if dry_run => vec![client.show(&target).await?.id],
        Some(target) => vec![client.cancel(&target, reason).await?],
        None => client.cancel_all(filter(&which), reason, dry_run).await?.asked,
    };
    say(Did { dry_run, instances, duplicates: vec![] }, ["asked to end", "would be asked to end"], json);
    Ok(())
}

pub(super) async fn retry(client: &Client, which: WhichArgs, address: Option<Target>, json: bool) -> Result<(), Fault> {
    let dry_run = which.dry_run;
    let (instances, duplicates) = match address {
        Some(target) if dry_run => (vec![client.show(&target).await?.id], vec![]),
        Some(target) => (vec![client.retry(&target).await?], vec![]),
        None => {
            let report = client.retry_all(filter(&which), dry_run).await?;
            (report.again, report.duplicates)
        }
    };
    say(Did { dry_run, instances, duplicates }, ["goes on", "would go on"], json);
    Ok(())
}

fn say(did: Did, words: [&str; 2], json: bool) {
    if json {
        return print::json(&did);
    }
    let word = words[usize::from(did.dry_run)];
    did.instances.iter().for_each(|id| print::line(format!("{id} {word}")));
    did.duplicates.iter().for_each(|id| print::line(format!("{id} stays: its business key has a newer occupant")));
    if did.instances.is_empty() && did.duplicates.is_empty() {
        print::line("none");
    }
}
