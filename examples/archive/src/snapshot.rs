//! The verb `snapshot`: starts an instance, or finds it, and works it to its end.

use std::{
    io::Write,
    path::Path,
    pin::pin,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use gen_durable::{Client, Command, Filter, Handle, Machine, Status, start};
use progress::Progress;
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    machine::{Archive, Digest, List, Summary},
    manifest,
    name::Name,
    report::report,
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

const TICK: Duration = Duration::from_millis(250);
/// The most a page of instances has.
const PAGE: u32 = 1_000;

/// Writes the manifest of a directory into the current one. Whatever kills it, run it again: it goes on.
pub async fn snapshot(command: Command) -> Result<(), Fault> {
    let directory = directory(command.args())?;
    let manifest = Name::of(&std::env::current_dir()?.join(manifest::NAME));
    let steps = available_parallelism().map_or(2, usize::from);
    let worker = command.worker().await?.queue("archive", steps).start().await?;
    let ended = work(worker.client(), &directory, &manifest).await;
    worker.stop().await;
    // The last to leave a SQLite file empties its log into it.
    command.client()?.close().await;
    ended
}

async fn work(client: &Client, directory: &Name, manifest: &Name) -> Result<(), Fault> {
    loop {
        let first = List { directory: directory.clone(), manifest: manifest.clone() };
        let snapshot = client.start(start(first)).await?;
        match snapshot.is_new() {
            true => eprintln!("snapshot of {directory}"),
            false => eprintln!("snapshot of {directory}, begun before: it goes on"),
        }
        let summary = follow(client, directory, &snapshot).await?;
        let instance = snapshot.show().await?;
        let took = instance.updated_at.duration_since(instance.inserted_at).unsigned_abs();
        print(&report(&summary, took))?;
        // It may have been begun in another directory: that has its manifest now, this one has none yet.
        if summary.manifest == *manifest {
            return Ok(());
        }
    }
}

/// Shows how far it is until it has ended.
async fn follow(client: &Client, directory: &Name, snapshot: &Handle<Archive>) -> Result<Summary, Fault> {
    let mut end = pin!(snapshot.wait().into_future());
    let mut stop = pin!(tokio::signal::ctrl_c());
    let (mut progress, mut pause) = (Progress::begin(), TICK);
    loop {
        tokio::select! {
            summary = &mut end => {
                let summary = summary?;
                let all = summary.files + summary.unreadable.len() as u64;
                progress.end(so_far(summary.files, all));
                return Ok(summary);
            }
            _ = &mut stop => return Err("stopped; run it again: it goes on".into()),
            () = tokio::time::sleep(pause) => {
                let began = Instant::now();
                // A database that is away for a while stops nobody: the worker goes on when it is back.
                if let Ok(text) = look(client, directory, snapshot).await {
                    progress.show(text);
                }
                // To look at a million files takes a while: never more than a tenth of the time.
                pause = TICK.max(10 * began.elapsed());
            }
        }
    }
}

async fn look(client: &Client, directory: &Name, snapshot: &Handle<Archive>) -> Result<String, Fault> {
    Ok(match snapshot.get().await? {
        Archive::List { .. } => "listing".into(),
        Archive::Collect { files, .. } => so_far(files.saturating_sub(open(client, directory).await?), files),
    })
}

fn so_far(hashed: u64, files: u64) -> String {
    format!("{hashed} of {files} files hashed")
}

/// A batch as it is stored.
#[derive(Deserialize)]
struct Batch {
    directory: Name,
    files: Vec<IgnoredAny>,
}

/// Files of batches that have not ended. A directory has one snapshot at a time, so all of them are of this one.
async fn open(client: &Client, directory: &Name) -> Result<u64, Fault> {
    let mut open = 0;
    for status in [Status::Executing, Status::Runnable] {
        let mut filter = Filter::default().machine(Digest::NAME).status(status).limit(PAGE);
        loop {
            let page = client.list(filter.clone()).await?;
            for batch in &page {
                let batch: Batch = serde_json::from_str(batch.state.get())?;
                open += if batch.directory == *directory { batch.files.len() as u64 } else { 0 };
            }
            let Some(last) = page.last() else { break };
            filter = filter.before(last.id);
        }
    }
    Ok(open)
}

/// The directory that stood behind `snapshot`, by the one name it has.
fn directory(args: &[String]) -> Result<Name, Fault> {
    let [directory] = args else { return Err("usage: archive snapshot DIRECTORY".into()) };
    let found = Path::new(directory).canonicalize().and_then(|path| {
        // An error now rather than a snapshot of nothing.
        std::fs::read_dir(&path).map(|_| path)
    });
    Ok(Name::of(&found.map_err(|error| format!("{directory}: {error}"))?))
}

fn print(text: &str) -> Result<(), Fault> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // `| head` has seen enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
