//! The way to the database, closed for a while.

use crate::{Db, Tx};

/// On Postgres a wire that holds everything back; on SQLite someone else's transaction holds the file.
#[allow(missing_debug_implementations)]
pub struct Cut<'d> {
    db: &'d Db,
    #[cfg(feature = "postgres")]
    wire: Option<crate::Wire>,
    held: Option<Tx>,
}

impl<'d> Cut<'d> {
    pub async fn to(db: &'d Db) -> Self {
        Self {
            db,
            #[cfg(feature = "postgres")]
            wire: if db.store.dialect() == "postgres" { Some(crate::Wire::to(db).await) } else { None },
            held: None,
        }
    }

    /// The database, by the way that may be cut.
    pub fn url(&self) -> &str {
        #[cfg(feature = "postgres")]
        if let Some(wire) = &self.wire {
            return wire.url();
        }
        &self.db.url
    }

    /// Nothing gets through.
    pub async fn hold(&mut self) {
        #[cfg(feature = "postgres")]
        if let Some(wire) = &self.wire {
            return wire.hold();
        }
        self.held = Some(self.db.hold().await);
    }

    /// As before.
    pub async fn pass(&mut self) {
        #[cfg(feature = "postgres")]
        if let Some(wire) = &self.wire {
            wire.pass();
        }
        if let Some(held) = self.held.take() {
            held.rollback().await;
        }
    }
}
