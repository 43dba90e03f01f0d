//! Hostile, odd and huge input: refused by name before any SQL, or kept exactly as given.
#![allow(unreachable_pub)] // machines are public as in a user's crate

mod depth;
mod floats;
mod huge;
mod keys;
mod names;
mod nul;
mod numbers;
#[cfg(feature = "postgres")]
mod schemas;

use std::{collections::BTreeMap, time::Duration};

use gen_durable::{Client, Failed, RunningWorker, prelude::*};
use serde::{Deserialize, Serialize};
use suite::Db;

/// One at a time for each desk.
#[derive(ConcurrencyKey)]
#[concurrency(key(String))]
pub struct Desk;

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Note {
    pub text: String,
}

/// What a step makes of its text.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub enum Make {
    #[default]
    Result,
    State,
    Error,
    Reason,
    Wait,
    /// So many bytes of state.
    Large(usize),
}

#[durable_fsm(output(String), handler(Post), retry(attempts = 2, backoff = "10ms"))]
pub enum Letter {
    #[step(start, key(name), concurrency(Desk, by(desk)), next(Kept, Read), done, fail, catch(Spoiled))]
    Write { name: String, desk: String, text: String, make: Make, map: BTreeMap<String, String> },
    #[step(done, concurrency(none))]
    Kept { text: String },
    #[step(await(Note), done)]
    Read {},
    #[step(done)]
    Spoiled { error: String },
}

impl From<Failed<Write>> for Spoiled {
    fn from(failed: Failed<Write>) -> Self {
        Spoiled { error: failed.error }
    }
}

#[derive(Clone, Copy)]
pub struct Post;

/// What a step may do to a text that could not come in from outside: `^` becomes NUL.
fn spoilt(text: &str) -> String {
    text.replace('^', "\0")
}

impl LetterSteps for Post {
    async fn write(&self, step: Write, _: &StepContext) -> StepResult<Write> {
        let text = spoilt(&step.text);
        Ok(match step.make {
            Make::Result => done(text),
            Make::State => goto(Kept { text }),
            Make::Error => Err(text)?,
            Make::Reason => fail(text),
            Make::Wait => goto(Read {}),
            Make::Large(bytes) => goto(Kept { text: "x".repeat(bytes) }),
        })
    }
    async fn kept(&self, step: Kept, _: &StepContext) -> StepResult<Kept> {
        Ok(done(format!("{} bytes", step.text.len())))
    }
    async fn read(&self, _: Read, note: Note, _: &StepContext) -> StepResult<Read> {
        Ok(done(note.text))
    }
    async fn spoiled(&self, step: Spoiled, _: &StepContext) -> StepResult<Spoiled> {
        Ok(done(step.error))
    }
}

/// A letter with this name, and nothing odd.
fn letter(name: &str) -> Write {
    let (desk, text) = (name.to_owned(), "text".to_owned());
    Write { name: name.to_owned(), desk, text, make: Make::Result, map: BTreeMap::new() }
}

async fn client(db: &Db) -> Client {
    Client::options(&db.url).pool_size(5).connect().await.expect("connects")
}

async fn worker(client: &Client) -> RunningWorker {
    Worker::new(client.clone()).handler(Post).drain(Duration::from_secs(1)).start().await.expect("starts")
}

const ROWS: &str = "SELECT count(*) FROM gen_durable";
const LIMIT: Duration = Duration::from_secs(30);
