//! How far it is: a line that is written over on a terminal, a line now and then elsewhere.

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

/// How often a reader that keeps every line gets one.
const EVERY: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Progress {
    is_terminal: bool,
    began: Instant,
    last: Option<(Instant, String)>,
}

impl Progress {
    pub fn begin() -> Self {
        Self { is_terminal: stderr().is_terminal(), began: Instant::now(), last: None }
    }

    /// Says how far it is, unless that was said just now.
    pub fn show(&mut self, text: String) {
        let is_due = self.last.as_ref().is_none_or(|(at, last)| at.elapsed() >= EVERY && *last != text);
        if self.is_terminal || is_due {
            self.write(text);
        }
    }

    /// Says how far it got.
    pub fn end(mut self, text: String) {
        self.write(text);
        if self.is_terminal {
            let _ = writeln!(stderr());
        }
    }

    fn write(&mut self, text: String) {
        let seconds = self.began.elapsed().as_secs_f64();
        // Nobody reads any more: no reason to stop the work.
        let _ = match self.is_terminal {
            true => write!(stderr(), "\r\x1b[2K{seconds:5.1} s  {text}"),
            false => writeln!(stderr(), "{seconds:5.1} s  {text}"),
        };
        self.last = Some((Instant::now(), text));
    }
}
