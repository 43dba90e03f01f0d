//! A network that misbehaves: TCP on loopback, forwarded to the server's socket.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::JoinHandle,
};

use crate::Db;

/// What happens to what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Pass,
    /// Each piece reaches the server so much later.
    Delay(Duration),
    /// Nothing arrives, nothing is refused: a cable pulled out.
    Hold,
}

/// A forwarder in front of a database; closes with its last handle.
#[derive(Debug)]
pub struct Wire {
    url: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    socket: PathBuf,
    mode: watch::Sender<Mode>,
    links: Mutex<Vec<Arc<Link>>>,
    /// A request with this text is passed on, and its answer is lost with the connection; so many times.
    lost: Mutex<Vec<(Vec<u8>, usize)>>,
    losses: AtomicUsize,
}

/// One connection.
#[derive(Debug)]
struct Link {
    mode: watch::Sender<Option<Mode>>,
    cut: watch::Sender<bool>,
    said: Mutex<Vec<u8>>,
    loses_answer: AtomicBool,
}

/// The beginning of a conversation tells connections apart.
const SAID_BYTES: usize = 16 << 10;

impl Wire {
    pub async fn to(db: &Db) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Arc::new(Shared {
            socket: db.database().server().socket_dir().join(".s.PGSQL.5432"),
            mode: watch::Sender::new(Mode::Pass),
            links: Mutex::default(),
            lost: Mutex::default(),
            losses: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        let url = format!("postgres://postgres@127.0.0.1:{port}/{}?sslmode=disable", db.database().name());
        Self { url, shared, accepting }
    }

    /// The database, through this wire.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn pass(&self) {
        self.shared.mode.send_replace(Mode::Pass);
        for link in self.links() {
            link.mode.send_replace(None);
        }
    }

    pub fn delay(&self, by: Duration) {
        self.shared.mode.send_replace(Mode::Delay(by));
    }

    pub fn hold(&self) {
        self.shared.mode.send_replace(Mode::Hold);
    }

    /// Holds only the connections on which this was said; answers how many.
    pub fn hold_where(&self, said: &str) -> usize {
        let mut links = self.links();
        links.retain(|link| find(&link.said(), said.as_bytes()));
        for link in &links {
            link.mode.send_replace(Some(Mode::Hold));
        }
        links.len()
    }

    /// Breaks all connections; new ones pass.
    pub fn reset(&self) {
        for link in self.links() {
            link.cut.send_replace(true);
        }
    }

    /// The next `times` requests with this text reach the server; their answers are lost with the connection. Said again,
    /// it counts anew.
    pub fn lose_answers_to(&self, text: impl Into<Vec<u8>>, times: usize) {
        let (text, mut lost) = (text.into(), lock(&self.shared.lost));
        lost.retain(|(known, _)| *known != text);
        lost.push((text, times));
    }

    /// Answers lost so far.
    pub fn losses(&self) -> usize {
        self.shared.losses.load(Ordering::Relaxed)
    }

    /// Connections that are open.
    fn links(&self) -> Vec<Arc<Link>> {
        lock(&self.shared.links).clone()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
        self.reset();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        // A close is a reset, as of a machine that lost its memory.
        let _ = client.set_zero_linger();
        let _ = client.set_nodelay(true);
        tokio::spawn(forward(client, Arc::clone(&shared)));
    }
}

async fn forward(client: TcpStream, shared: Arc<Shared>) {
    // A server that is down refuses: so does the wire.
    let Ok(server) = UnixStream::connect(&shared.socket).await else { return };
    let link = Arc::new(Link {
        mode: watch::Sender::new(None),
        cut: watch::Sender::new(false),
        said: Mutex::default(),
        loses_answer: AtomicBool::new(false),
    });
    lock(&shared.links).push(Arc::clone(&link));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let cut = async { drop(link.cut.subscribe().wait_for(|cut| *cut).await) };
    tokio::select! {
        () = pump(from_client, to_server, &shared, &link, true) => {}
        () = pump(from_server, to_client, &shared, &link, false) => {}
        () = cut => {}
    }
    lock(&shared.links).retain(|open| !Arc::ptr_eq(open, &link));
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared,
    link: &Link,
    is_request: bool,
) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(bytes @ 1..) = from.read(&mut piece).await {
        let bytes = &piece[..bytes];
        if is_request {
            link.note(bytes);
            if shared.is_lost(bytes) {
                link.loses_answer.store(true, Ordering::Relaxed);
            }
        } else if link.loses_answer.load(Ordering::Relaxed) {
            shared.losses.fetch_add(1, Ordering::Relaxed);
            return;
        }
        shared.passage(link, is_request).await;
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

impl Shared {
    /// Waits as long as the mode says; the connection's own goes before that of all.
    async fn passage(&self, link: &Link, is_request: bool) {
        let (mut all, mut own) = (self.mode.subscribe(), link.mode.subscribe());
        loop {
            let mode = own.borrow_and_update().unwrap_or(*all.borrow_and_update());
            match mode {
                Mode::Pass => return,
                Mode::Delay(by) if is_request => return tokio::time::sleep(by).await,
                Mode::Delay(_) => return,
                Mode::Hold => tokio::select! {
                    _ = all.changed() => {}
                    _ = own.changed() => {}
                },
            }
        }
    }

    fn is_lost(&self, bytes: &[u8]) -> bool {
        let mut lost = lock(&self.lost);
        let found = lost.iter_mut().find(|(text, times)| *times > 0 && find(bytes, text));
        found.map(|(_, times)| *times -= 1).is_some()
    }
}

impl Link {
    fn note(&self, bytes: &[u8]) {
        let mut said = lock(&self.said);
        let room = SAID_BYTES.saturating_sub(said.len());
        said.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn said(&self) -> Vec<u8> {
        lock(&self.said).clone()
    }
}

fn find(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
