//! The carrier: somebody else's service, played by a pause and a number.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

/// The most pieces of one parcel.
const PIECES_MAX: i64 = 20;

#[derive(Debug, Clone)]
pub struct Carrier {
    /// How long it takes to answer.
    takes: Duration,
}

/// The carrier will not take this parcel, however often it is asked.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl Default for Carrier {
    fn default() -> Self {
        Self::new(Duration::from_millis(30))
    }
}

impl Carrier {
    pub fn new(takes: Duration) -> Self {
        Self { takes }
    }

    /// Books a parcel and gives its tracking number: one parcel for a key, however often it is asked.
    pub async fn book(&self, pieces: i64, key: &str) -> Result<String, Refused> {
        tokio::time::sleep(self.takes).await;
        if pieces > PIECES_MAX {
            return Err(Refused(format!("{pieces} pieces, a parcel takes {PIECES_MAX}")));
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Ok(format!("P{:08X}", hasher.finish() & 0xFFFF_FFFF))
    }
}
