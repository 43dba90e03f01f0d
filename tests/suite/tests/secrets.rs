//! What the user stores stands in no log. A program of its own: its log is everybody's.
#![allow(unreachable_pub)] // machines are public as in a user's crate

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use gen_durable::{Client, Failed, Startable, TimedOut, Worker, prelude::*, start};
use serde::{Deserialize, Serialize};
use suite::{Db, eventually, store_options};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        what_the_user_stores_stands_in_no_log,
    }
}

const SECRET: &str = "S3CR3T";
const LONG: Duration = Duration::from_secs(20);

/// Everything that is logged, at every level, by every crate.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

#[derive(Serialize, Deserialize, Signal)]
pub struct Word {
    pub word: String,
}

#[derive(ConcurrencyKey)]
#[concurrency(key(String))]
pub struct Desk;

#[derive(RateLimit)]
#[rate_limit(allowed = 1_000, per = "1s", burst = 1_000, key(String))]
pub struct Counter;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Facts {
    pub fact: String,
}

#[durable_fsm(
    output(String),
    carry(Facts),
    handler(Keeper),
    concurrency(Desk, by(word)),
    retry(attempts = 2, backoff = "20ms")
)]
pub enum Vault {
    #[step(start, key(word), rate_limit(Counter, by(word)), next(Listen), spawn(Whisper), catch(Mend), done, fail)]
    Act { word: String, how: How },
    #[step(await(Word), timeout = "10s", done)]
    Listen { word: String },
    #[step(done)]
    Mend { word: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    Done,
    Park,
    Err,
    Panic,
    Fail,
    Sleep,
    Nul,
}

impl From<Failed<Act>> for Mend {
    fn from(failed: Failed<Act>) -> Self {
        Mend { word: failed.step.word }
    }
}

pub struct Keeper;

#[durable_job(retry(attempts = 1))]
pub async fn whisper(_: &Keeper, word: String) -> Result<String, StepError> {
    Err(StepError::from(io::Error::other(word)))
}

impl VaultSteps for Keeper {
    async fn act(&self, step: Act, carry: &mut Facts, _: &StepContext) -> StepResult<Act> {
        carry.fact.clone_from(&step.word);
        Ok(match step.how {
            How::Done => done(step.word.clone()).spawn(Whisper::start(step.word)),
            How::Park => goto(Listen { word: step.word }),
            How::Err => return Err(StepError::from(io::Error::other(step.word))),
            // Its text is printed by the panic hook, which is the user's.
            How::Panic => panic!("a panic"),
            How::Fail => fail(step.word),
            How::Nul => done(format!("{}\0", step.word)),
            How::Sleep => {
                tokio::time::sleep(Duration::from_secs(60)).await;
                done(step.word)
            }
        })
    }

    async fn listen(
        &self,
        _: Listen,
        word: Result<Word, TimedOut>,
        _: &mut Facts,
        _: &StepContext,
    ) -> StepResult<Listen> {
        Ok(done(word.map(|w| w.word).unwrap_or_default()))
    }

    async fn mend(&self, step: Mend, _: &mut Facts, _: &StepContext) -> StepResult<Mend> {
        Ok(done(step.word))
    }
}

fn vault(how: How) -> impl Startable<Machine = Vault> {
    start(Act { word: format!("{SECRET}-{how:?}"), how }).carry(Facts { fact: SECRET.into() })
}

async fn act(client: &Client, how: How) -> gen_durable::Handle<Vault> {
    let started = client.start(vault(how)).await.expect("starts");
    client.by_id(started.id().expect("known"))
}

/// O-51. Success, retry, panic, failure, what cannot be stored, a duplicate, a lost claim, a cancel, signals; errors name fields
/// and sizes. What the user put into an error stands in the row alone.
async fn what_the_user_stores_stands_in_no_log(db: Db) {
    let log = Log::default();
    let writer = log.clone();
    // The other store's test may have been here before.
    let _ =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).try_init();
    let client = Client::on(store_options(&db.url).open().expect("a store"));
    let worker = Worker::new(client.clone()).handler(Keeper).leave_unserved().lease(Duration::from_secs(2));
    let worker = worker.sweep(Duration::from_millis(100)).without_migration().start().await.expect("starts");
    for how in [How::Done, How::Err, How::Panic, How::Nul] {
        let _ = act(&client, how).await.wait().timeout(LONG).await;
    }
    let failed = act(&client, How::Fail).await;
    let said = failed.wait().timeout(LONG).await.expect_err("fails");
    assert!(failed.show().await.expect("shows").last_error.is_some_and(|e| e.contains(SECRET)), "it stands in the row");
    tracing::info!("an error, as it is shown: {}", said.to_string().replace(SECRET, "(the user's own text)"));
    let parked = act(&client, How::Park).await;
    parked.wait_parked().timeout(LONG).await.expect("parks");
    for n in [1, 2] {
        let word = Word { word: format!("{SECRET} {n}") };
        // The first may have ended it.
        let _ = parked.signal(word).dedup(format!("{SECRET}-key")).await;
    }
    parked.wait().timeout(LONG).await.expect("ends");
    let lost = act(&client, How::Sleep).await;
    lost.wait_for_step::<Act>().timeout(LONG).await.expect("is there");
    let executing = async || db.count("SELECT count(*) FROM gen_durable WHERE status = 'executing'").await == 1;
    eventually("it runs", LONG, executing).await;
    let duplicate = client.start(vault(How::Sleep)).await.expect("answers");
    assert!(!duplicate.is_new());
    db.run("UPDATE gen_durable SET locked_by = 'somebody', lease_expires_at = now() - interval '1 s' WHERE status = 'executing'").await;
    eventually("it is taken back", LONG, async || worker.stats().reaped_claims() > 0).await;
    lost.cancel(SECRET).await.expect("asks");
    let missing = client.of::<Vault>(format!("{SECRET}-nobody")).signal(Word { word: SECRET.into() }).await;
    let refused = client.start(start(Act { word: format!("{SECRET}\0"), how: How::Done })).await;
    for error in [missing.map(drop).map_err(|e| e.to_string()), refused.map(drop).map_err(|e| e.to_string())] {
        let error = error.expect_err("is refused");
        assert!(!error.contains(SECRET), "{error}");
    }
    worker.stop().await;
    let text = log.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(SECRET)).collect();
    assert!(lines.is_empty(), "{} lines, the first: {:?}", lines.len(), lines.first());
}
