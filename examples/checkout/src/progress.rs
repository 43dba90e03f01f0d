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
        let seconds = self.began.elapsed().as_secs_f64();
        if self.is_terminal {
            // Whoever closed the terminal wants no progress.
            let _ = write!(stderr(), "\r\x1b[2K{seconds:5.1} s  {text}");
            return;
        }
        let is_news = self.last.as_ref().is_none_or(|(at, last)| at.elapsed() >= EVERY && *last != text);
        if is_news {
            let _ = writeln!(stderr(), "{seconds:5.1} s  {text}");
            self.last = Some((Instant::now(), text));
        }
    }

    /// Leaves the last line as it stands.
    pub fn end(self) {
        if self.is_terminal {
            let _ = writeln!(stderr());
        }
    }
}
