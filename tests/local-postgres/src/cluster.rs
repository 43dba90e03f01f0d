//! The data a server starts on.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::account::run_as;
use crate::binaries::Binaries;
use crate::place::{Place, Slot};
use crate::{Error, Profile, Result};

/// Gives the slot new data: a copy of the cluster that was initialised once. Ten times as fast as `initdb`.
pub(crate) fn renew(place: &Place, slot: &Slot, binaries: &Binaries, profile: Profile) -> Result<()> {
    remove(&slot.data())?;
    {
        let _making = place.lock()?;
        if !is_whole(&place.pristine()) {
            initialise(place, binaries)?;
        }
    }
    // Under another name first: what a killed `cp` leaves must not be taken for kept data.
    let unfinished = slot.data().with_extension("new");
    remove(&unfinished)?;
    let mut copy = Command::new("cp");
    copy.arg("-Rp").arg(place.pristine()).arg(&unfinished);
    run(place, copy)?;
    match profile {
        Profile::Fast => {}
        Profile::Durable => flush(place, &unfinished, binaries)?,
    }
    fs::rename(&unfinished, slot.data()).map_err(Error::io(format_args!("rename {}", unfinished.display())))
}

/// Forgets the initialised cluster: the next start makes it anew.
pub(crate) fn forget_pristine(place: &Place) -> Result<()> {
    let _making = place.lock()?;
    remove(&place.pristine())
}

/// A cleaner of old files may have taken parts of it.
fn is_whole(cluster: &Path) -> bool {
    ["PG_VERSION", "global/pg_control"].iter().all(|file| cluster.join(file).is_file())
}

/// Made under another name first: a killed `initdb` leaves nothing that looks whole.
fn initialise(place: &Place, binaries: &Binaries) -> Result<()> {
    let (pristine, unfinished) = (place.pristine(), place.pristine().with_extension("new"));
    remove(&pristine)?;
    remove(&unfinished)?;
    let mut initdb = Command::new(binaries.program("initdb"));
    initdb.args(["--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D"]).arg(&unfinished);
    run(place, initdb)?;
    fs::rename(&unfinished, &pristine).map_err(Error::io(format_args!("rename {}", unfinished.display())))
}

/// Writes the copy out, so that it does not disturb the first measurement.
fn flush(place: &Place, data: &Path, binaries: &Binaries) -> Result<()> {
    let mut sync = Command::new(binaries.program("initdb"));
    sync.args(["--sync-only", "-D"]).arg(data);
    run(place, sync)
}

pub(crate) fn remove(dir: &Path) -> Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    fs::remove_dir_all(dir).map_err(Error::io(format_args!("remove {}", dir.display())))
}

/// Runs a helper as the server's account; what it said becomes the error.
fn run(place: &Place, mut command: Command) -> Result<()> {
    run_as(&mut command, place.account);
    quiet(&mut command);
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(Error::io(format_args!("run {name} (can the server's account reach it?)")))?;
    if done.status.success() {
        return Ok(());
    }
    Err(Error::other(format!("{name} failed ({}): {}", done.status, String::from_utf8_lossy(&done.stderr).trim())))
}

/// The caller's own settings for another server must not reach this one.
pub(crate) fn quiet(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"PG")) {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").current_dir("/");
}
