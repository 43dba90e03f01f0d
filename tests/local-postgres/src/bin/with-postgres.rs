//! Runs a command with `DATABASE_URL` set to a new database on the shared private server.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

use local_postgres::Profile;

const USAGE: &str = "usage: with-postgres [--durable] COMMAND [ARGUMENT...]

Runs COMMAND with DATABASE_URL set to a new database on a private PostgreSQL, which is started if it does not run
and stopped a few seconds after its last user. The database is dropped when COMMAND ends.

  --durable   commits wait for the disk, as in production (without: as fast as tests like it)";

/// The command's process, for the signal handler; 0 while there is none.
static COMMAND: AtomicI32 = AtomicI32::new(0);

/// A signal that came before there was a process to pass it to.
static EARLY: AtomicI32 = AtomicI32::new(0);

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let durable = arguments.first().is_some_and(|first| first == "--durable");
    if durable {
        arguments.remove(0);
    }
    match arguments.split_first() {
        None => usage(2),
        Some((first, _)) if first == "--help" || first == "-h" => usage(0),
        Some((program, arguments)) => run(if durable { Profile::Durable } else { Profile::Fast }, program, arguments),
    }
}

fn usage(code: u8) -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(code)
}

fn run(profile: Profile, program: &OsString, arguments: &[OsString]) -> ExitCode {
    let database = match local_postgres::shared(profile).and_then(|server| server.create_database()) {
        Ok(database) => database,
        Err(error) => return fail(2, &error.to_string()),
    };
    pass_on_signals();
    let child = Command::new(program).args(arguments).env("DATABASE_URL", database.url()).spawn();
    match child.and_then(wait) {
        Ok(status) => exit_code(status),
        Err(error) => fail(127, &format!("{}: {error}", program.display())),
    }
}

fn fail(code: u8, text: &str) -> ExitCode {
    eprintln!("with-postgres: {text}");
    ExitCode::from(code)
}

fn wait(mut child: Child) -> std::io::Result<ExitStatus> {
    let command = child.id().try_into().unwrap_or(0);
    COMMAND.store(command, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        // SAFETY: plain numbers; the command has not been waited for yet.
        unsafe { libc::kill(command, early) };
    }
    let status = child.wait();
    COMMAND.store(0, Ordering::SeqCst);
    status
}

/// As a shell reports it: 128 and the signal for a command that was killed.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// This process outlives the command, so that the database is dropped.
fn pass_on_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: the handler makes only calls that are allowed in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let command = COMMAND.load(Ordering::SeqCst);
    // SAFETY: the kernel passes a valid `info`.
    let sent_by_a_process = unsafe { (*info).si_code } <= 0;
    // The terminal signals the command itself: passing that on would signal it twice.
    if !sent_by_a_process {
        return;
    }
    if command == 0 {
        EARLY.store(signal, Ordering::SeqCst);
    } else {
        // SAFETY: plain numbers; the command has not been waited for yet.
        unsafe { libc::kill(command, signal) };
    }
}
