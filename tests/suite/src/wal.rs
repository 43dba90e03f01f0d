//! What was written to a file, counted in its write-ahead log: each frame is a page, and the last frame of a
//! transaction says so.

use std::{fs, path::PathBuf};

use crate::Db;

/// The log of a database.
#[derive(Debug)]
pub struct Wal {
    path: PathBuf,
}

/// What was written since the log was emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    pub transactions: usize,
    pub pages: usize,
}

const HEADER: usize = 32;
const FRAME: usize = 24;

impl Wal {
    /// Emptied first.
    pub async fn of(db: &Db) -> Self {
        let wal = Self { path: db.path().with_extension("db-wal") };
        wal.empty(db).await;
        wal
    }

    /// Counts from here on.
    pub async fn empty(&self, db: &Db) {
        let busy: i32 = sqlx::query_scalar("PRAGMA main.wal_checkpoint(TRUNCATE)")
            .fetch_one(db.file_pool())
            .await
            .expect("a checkpoint");
        assert_eq!((busy, self.written().pages), (0, 0), "nobody reads");
    }

    pub fn written(&self) -> Written {
        let log = fs::read(&self.path).unwrap_or_default();
        let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("four bytes"));
        if log.len() < HEADER {
            return Written { transactions: 0, pages: 0 };
        }
        let frame = FRAME + usize::try_from(number(8)).expect("a page size");
        // Older frames of a log that was begun again have another salt.
        let frames = (HEADER..=log.len() - frame.min(log.len())).step_by(frame);
        let ours: Vec<usize> = frames.take_while(|at| number(at + 8) == number(16)).collect();
        let transactions = ours.iter().filter(|at| number(**at + 4) != 0).count();
        Written { transactions, pages: ours.len() }
    }
}
