//! The verb `queues`.

use jiff::Timestamp;

use super::{args::QueuesVerb, print};
use crate::{
    client::{Client, QueueSnapshot},
    model::did_you_mean,
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

pub(super) async fn run(client: &Client, verb: Option<QueuesVerb>, json: bool) -> Result<(), Fault> {
    match verb {
        None => list(client, json).await,
        Some(QueuesVerb::Pause { name }) => {
            is_known(client, &name).await?;
            let changed = client.pause_queue(&name).await?;
            say(&name, if changed { "paused" } else { "is paused already" }, json)
        }
        Some(QueuesVerb::Resume { name }) => {
            is_known(client, &name).await?;
            let changed = client.resume_queue(&name).await?;
            say(&name, if changed { "goes on" } else { "is not paused" }, json)
        }
    }
}

/// A slip of the hand would pause nothing, in silence.
async fn is_known(client: &Client, name: &str) -> Result<(), Fault> {
    let queues = client.queues().await?;
    if queues.iter().any(|queue| queue.name == name) {
        return Ok(());
    }
    let hint = did_you_mean(name, queues.iter().map(|queue| queue.name.as_str()));
    Err(format!("no instance stands in a queue {name:?}, and no machine of this program names it{hint}").into())
}

fn say(name: &str, what: &str, json: bool) -> Result<(), Fault> {
    match json {
        true => print::json(&serde_json::json!({"queue": name, "did": what})),
        false => print::line(format!("{name} {what}")),
    }
    Ok(())
}

async fn list(client: &Client, json: bool) -> Result<(), Fault> {
    let queues = client.queues().await?;
    if json {
        queues.iter().for_each(print::json);
        return Ok(());
    }
    let rows: Vec<Vec<String>> = queues.iter().map(row).collect();
    let head =
        ["queue", "due", "oldest", "running", "parked", "limited", "no code", "scheduled", "paused since", "note"];
    print::table(&head, &rows);
    Ok(())
}

fn row(q: &QueueSnapshot) -> Vec<String> {
    let oldest = q.oldest_due.map_or_else(|| "-".to_owned(), age);
    let paused = q.paused.map_or_else(|| "-".to_owned(), |at| at.to_string());
    let note = if q.at_least { "at least: not all were counted" } else { "" };
    let [due, running, parked, limited, code, scheduled] =
        [q.due, q.running, q.parked, q.waiting_for_limit, q.waiting_for_code, q.scheduled].map(|n| n.to_string());
    vec![q.name.clone(), due, oldest, running, parked, limited, code, scheduled, paused, note.to_owned()]
}

fn age(since: Timestamp) -> String {
    format!("{} s", Timestamp::now().duration_since(since).as_secs().max(0))
}
