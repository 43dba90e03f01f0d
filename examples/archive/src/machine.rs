//! The archive: an enum of steps, and a job for each batch of files.

use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    digest::{self, Hashed, Unreadable},
    disk::Disk,
    manifest::{self, Manifest},
    name::Name,
    tree,
};

/// What a snapshot ends with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub manifest: Name,
    /// Lines of the manifest.
    pub files: u64,
    pub bytes: u64,
    pub unreadable: Vec<Unreadable>,
}

/// A snapshot of a directory, from the listing to the manifest. The directory is free again once it has ended: the next
/// snapshot is another instance. `crashes`: whoever is killed ten times is no less worth finishing.
#[durable_fsm(queue = "archive", output(Summary), handler(Disk), retry(attempts = 3, crashes = 1_000))]
pub enum Archive {
    /// Lists the files and hands them out in batches. The list is nowhere else: each child holds its part.
    #[step(start, key(directory), next(Collect))]
    List { directory: Name, manifest: Name },
    /// Every batch was hashed: writes the manifest.
    #[step(join(Digest), done)]
    Collect { directory: Name, manifest: Name, files: u64 },
}

/// Hashes a batch of files. A file that cannot be read is a result, no error: the others count.
#[durable_job(queue = "archive", retry(attempts = 3, crashes = 1_000))]
pub async fn digest(
    _disk: &Disk,
    directory: Name,
    files: Vec<Name>,
) -> Result<Vec<Result<Hashed, Unreadable>>, StepError> {
    let hash = move || {
        let directory = directory.path();
        files.into_iter().map(|file| digest::hash(&directory, file)).collect()
    };
    // It reads and computes without a pause: not where others wait for their turn.
    Ok(tokio::task::spawn_blocking(hash).await?)
}

impl ArchiveSteps for Disk {
    async fn list(&self, step: List, _cx: &StepContext) -> StepResult<List> {
        let List { directory, manifest } = step;
        let (root, is_own) = (directory.path(), self.is_own(&manifest.path()));
        let batches = tokio::task::spawn_blocking(move || tree::batches(&root, is_own)).await??;
        let files = batches.iter().map(|batch| batch.len() as u64).sum();
        let children = batches.into_iter().map(|batch| Digest::start(directory.clone(), batch)).collect::<Vec<_>>();
        Ok(fan_out(Collect { directory, manifest, files }).children(children).into())
    }

    async fn collect(&self, step: Collect, joined: Joined<Digest>, cx: &StepContext) -> StepResult<Collect> {
        let path = step.manifest.path();
        let prefix = manifest::prefix(&step.directory.path(), &path);
        let mut manifest = Manifest::begin(&path, &cx.id().to_string()).await?;
        let mut summary = Summary { manifest: step.manifest, files: 0, bytes: 0, unreadable: vec![] };
        // In the order of the fan-out, whoever was the first to end: the same tree has the same manifest.
        let mut batches = joined.stream();
        while let Some(batch) = batches.next().await? {
            for file in batch? {
                match file {
                    Ok(Hashed { file, sha256, bytes }) => {
                        manifest.add(&prefix.join(file.path()), &sha256).await?;
                        (summary.files, summary.bytes) = (summary.files + 1, summary.bytes + bytes);
                    }
                    Err(unreadable) => summary.unreadable.push(unreadable),
                }
            }
        }
        manifest.end().await?;
        Ok(done(summary))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

    fn name(path: &str) -> Name {
        Name::of(Path::new(path))
    }

    async fn listed(directory: &str) -> Result<Outcome<List>, StepError> {
        let step = List { directory: name(directory), manifest: name("/manifest.sha256") };
        Disk::on("postgres://localhost/archive").list(step, &StepContext::test()).await
    }

    #[tokio::test]
    async fn every_file_is_handed_out() {
        let files = std::fs::read_dir(HERE).expect("a directory").count() as u64;
        let outcome = listed(HERE).await.expect("it is read");
        assert!(matches!(outcome.target(), Some(Archive::Collect { files: found, .. }) if *found == files));
    }

    #[tokio::test]
    async fn a_directory_that_is_gone_is_an_error() {
        assert!(listed("/nowhere").await.expect_err("it is gone").to_string().contains("/nowhere"));
    }

    #[tokio::test]
    async fn a_file_that_vanished_is_a_result_beside_the_others() {
        let files = ["machine.rs", "vanished", "main.rs"].map(name).to_vec();
        let disk = Disk::on("postgres://localhost/archive");
        let [first, second, third] = &digest(&disk, name(HERE), files).await.expect("a result")[..] else {
            panic!("three results")
        };
        assert!(first.is_ok() && third.is_ok());
        let gone = Unreadable { file: name("vanished"), why: "No such file or directory (os error 2)".into() };
        assert_eq!(*second, Err(gone));
    }
}
