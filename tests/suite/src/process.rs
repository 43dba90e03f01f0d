//! Worker processes that are really killed, stopped and resumed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::{mpsc, watch},
    task::JoinHandle,
};

use crate::Db;

/// How a worker process is started. The times are short: a lease of 2 s, a look at the queue each 200 ms.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    binary: PathBuf,
    environment: BTreeMap<&'static str, String>,
}

impl WorkerOptions {
    /// `binary` is the one of this package: `env!("CARGO_BIN_EXE_suite-worker")`.
    pub fn new(binary: &str, db: &Db) -> Self {
        let options = Self { binary: binary.into(), environment: BTreeMap::new() };
        let times = [("SUITE_LEASE_MS", 2_000), ("SUITE_POLL_MS", 200), ("SUITE_SWEEP_MS", 500)];
        let options = times.into_iter().fold(options, |o, (name, ms)| o.with(name, ms));
        options.with("SUITE_URL", &db.url).with("SUITE_EFFECTS_URL", db.effects_url())
    }

    /// Any setting of the worker binary, see there.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.environment.insert(name, value.to_string());
        self
    }

    /// Another way to the database than the effects take.
    #[must_use]
    pub fn url(self, url: &str) -> Self {
        self.with("SUITE_URL", url)
    }

    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        self.with("SUITE_LEASE_MS", lease.as_millis())
    }

    #[must_use]
    pub fn poll(self, poll: Duration) -> Self {
        self.with("SUITE_POLL_MS", poll.as_millis())
    }

    #[must_use]
    pub fn drain(self, drain: Duration) -> Self {
        self.with("SUITE_DRAIN_MS", drain.as_millis())
    }

    /// Steps at once.
    #[must_use]
    pub fn concurrency(self, steps: usize) -> Self {
        self.with("SUITE_CONCURRENCY", steps)
    }

    /// Every run takes so much longer in this process.
    #[must_use]
    pub fn pause(self, pause: Duration) -> Self {
        self.with("SUITE_PAUSE_MS", pause.as_millis())
    }

    /// A wall clock that is off by this much (`+1h`); `None` when that cannot be done here.
    pub fn clock(self, offset: &str) -> Option<Self> {
        let library = faketime()?;
        Some(
            self.with("LD_PRELOAD", library.display())
                .with("FAKETIME", offset)
                .with("DONT_FAKE_MONOTONIC", 1)
                .with("FAKETIME_DONT_FAKE_MONOTONIC", 1),
        )
    }

    /// Starts it and waits until it works.
    pub async fn spawn(&self) -> WorkerProcess {
        let mut process = self.launch();
        let ready = tokio::time::timeout(Duration::from_secs(30), process.line()).await;
        assert_eq!(ready.ok().flatten().as_deref(), Some("ready"), "{}", process.log().join("\n"));
        process
    }

    /// Starts it, and does not wait.
    pub fn launch(&self) -> WorkerProcess {
        let mut command = Command::new(&self.binary);
        command.envs(&self.environment).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the worker binary was built");
        let log = Arc::<Mutex<Vec<String>>>::default();
        let stdin = child.stdin.take().expect("piped");
        let logging = tokio::spawn(keep(child.stderr.take().expect("piped"), Arc::clone(&log)));
        let (sender, lines) = mpsc::unbounded_channel();
        tokio::spawn(pass_on(child.stdout.take().expect("piped"), sender));
        WorkerProcess { pid: child.id().expect("it runs"), child, stdin, lines, log, logging: Some(logging) }
    }

    /// Starts it again whenever it dies.
    pub async fn supervise(self) -> Supervised {
        let (deaths, stop) = (Arc::<AtomicUsize>::default(), watch::Sender::new(false));
        let first = self.spawn().await;
        let watching = tokio::spawn(supervise(self, first, Arc::clone(&deaths), stop.subscribe()));
        Supervised { deaths, stop, watching }
    }
}

fn faketime() -> Option<PathBuf> {
    let libraries = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let paths = libraries.iter().map(|dir| Path::new(dir).join("faketime/libfaketimeMT.so.1"));
    paths.into_iter().find(|path| path.exists())
}

/// A worker process. Killed when it is dropped.
#[derive(Debug)]
pub struct WorkerProcess {
    pid: u32,
    child: Child,
    stdin: ChildStdin,
    lines: mpsc::UnboundedReceiver<String>,
    log: Arc<Mutex<Vec<String>>>,
    logging: Option<JoinHandle<()>>,
}

impl WorkerProcess {
    pub fn pid(&self) -> i32 {
        i32::try_from(self.pid).expect("a process id")
    }

    /// As `kill -9`; returns when it is gone.
    pub async fn kill(&mut self) {
        // One that ended by itself is gone already.
        if self.child.try_wait().expect("our child").is_none() {
            self.child.kill().await.expect("our child");
        }
    }

    /// SIGSTOP: frozen, its connections stay open.
    pub fn freeze(&self) {
        self.signal(libc::SIGSTOP);
    }

    /// The same, at a moment at which it holds nothing of the database: on a file nobody else could go on.
    pub async fn freeze_apart(&self, db: &Db) {
        self.freeze();
        while !db.is_free().await {
            self.thaw();
            tokio::time::sleep(Duration::from_millis(3)).await;
            self.freeze();
        }
    }

    /// SIGCONT.
    pub fn thaw(&self) {
        self.signal(libc::SIGCONT);
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        self.signal(libc::SIGTERM);
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: plain numbers; the child is not reaped while we hold it, so the id is still its.
        unsafe { libc::kill(self.pid(), signal) };
    }

    /// Waits for its end, and for the last line of its log.
    pub async fn exit(&mut self, within: Duration) -> ExitStatus {
        let ended = tokio::time::timeout(within, self.child.wait()).await;
        let Ok(status) = ended else { panic!("does not end within {within:?}:\n{}", self.log().join("\n")) };
        if let Some(logging) = self.logging.take() {
            logging.await.expect("the reader of the log");
        }
        status.expect("our child")
    }

    /// The next line it printed.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Tells it something.
    pub async fn tell(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.expect("it listens");
    }

    /// What it logged so far.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many lines of its log hold this text.
    pub fn logged(&self, text: &str) -> usize {
        self.log().iter().filter(|line| line.contains(text)).count()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let tail = log[log.len().saturating_sub(40)..].join("\n");
            eprintln!("---- worker {} ended its log with:\n{tail}", self.pid);
        }
    }
}

async fn keep(from: impl AsyncRead + Unpin, log: Arc<Mutex<Vec<String>>>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

async fn pass_on(from: impl AsyncRead + Unpin, to: mpsc::UnboundedSender<String>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let _ = to.send(line);
    }
}

/// A worker that is started again whenever it dies.
#[derive(Debug)]
pub struct Supervised {
    deaths: Arc<AtomicUsize>,
    stop: watch::Sender<bool>,
    watching: JoinHandle<()>,
}

impl Supervised {
    /// How often it died.
    pub fn deaths(&self) -> usize {
        self.deaths.load(Ordering::Relaxed)
    }

    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.watching.await.expect("the supervisor");
    }
}

async fn supervise(
    options: WorkerOptions,
    mut worker: WorkerProcess,
    deaths: Arc<AtomicUsize>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let died = tokio::select! {
            _ = worker.child.wait() => true,
            _ = stop.changed() => false,
        };
        if !died {
            return worker.kill().await;
        }
        deaths.fetch_add(1, Ordering::Relaxed);
        worker = options.launch();
    }
}
