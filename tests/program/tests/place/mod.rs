//! A directory of a test's own, and programs run in it.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Removed at the end, with what is in it.
pub struct Place(PathBuf);

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Said {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn empty() -> Self {
        let path = std::env::temp_dir().join(format!("program-test-{:016x}", rand::random::<u64>()));
        std::fs::create_dir(&path).expect("a writable directory");
        Self(path)
    }

    pub fn has(&self, file: &str) -> bool {
        self.0.join(file).exists()
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).expect("a writable directory");
    }

    pub fn files(&self) -> usize {
        std::fs::read_dir(&self.0).expect("it is there").count()
    }

    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        command.env_remove("DATABASE_URL").env_remove("RUST_LOG");
        command
    }

    pub fn run(&self, program: &str, args: &[&str]) -> Said {
        self.command(program, args).said()
    }

    /// Runs the program's worker until something has come true.
    pub fn work(&self, program: &str, is_true: impl Fn() -> bool) {
        let mut worker = self.command(program, &[]).stderr(Stdio::null()).spawn().expect("it runs");
        let end = Instant::now() + Duration::from_secs(20);
        while !is_true() {
            assert!(Instant::now() < end && worker.try_wait().expect("our child").is_none(), "it does not come true");
            std::thread::sleep(Duration::from_millis(50));
        }
        worker.kill().expect("our child");
        worker.wait().expect("our child");
    }
}

pub trait Says {
    fn said(&mut self) -> Said;
}

impl Says for Command {
    fn said(&mut self) -> Said {
        let output = self.output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Said { success: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Said {
    pub fn done(self) -> Self {
        assert!(self.success, "{self:?}");
        self
    }

    /// The last line of a refusal.
    pub fn refused(self) -> String {
        assert!(!self.success && !self.stderr.contains("panicked"), "{self:?}");
        self.stderr.lines().last().expect("it says why").to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
