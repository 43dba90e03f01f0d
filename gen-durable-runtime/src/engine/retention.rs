//! What has ended goes by its age, and so do dedup keys of what never ends.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{catalog::Catalog, shared::Shared};
use crate::{
    Error,
    model::{Cursor, Retention, Status, limits},
    store::{Ended, KeyExpiry, Purge},
};

/// Rows a piece looks at, and at most lets go.
const PIECE: u32 = 1_000;
/// Between two looks at what came of age, in sweeps: a minute, if claims of the dead are looked for each three seconds.
const REST: u32 = 20;
/// After so many rests everything is looked at anew: children whose parent has ended meanwhile, rows that someone held. An hour.
const ANEW: u32 = 60;
/// The shortest pause between two pieces.
const SHORTEST: Duration = Duration::from_millis(1);

/// What goes after one time, and how far the sweep over it has come.
#[derive(Debug)]
struct Sweep {
    age: Duration,
    what: What,
    /// There may be more.
    more: bool,
}

#[derive(Debug)]
enum What {
    Instances(Vec<Ended>, Cursor),
    Keys(Vec<(String, i32)>, i64),
}

impl Sweep {
    fn anew(&mut self) {
        match &mut self.what {
            What::Instances(_, cursor) => *cursor = Cursor::new(PIECE),
            What::Keys(_, after) => *after = 0,
        }
    }
}

/// One sweep for each time that somebody gave: each row is then met by its own sweep when it comes of age, and by no other twice.
fn sweeps(catalog: &Catalog, default: Retention) -> Vec<Sweep> {
    let (mut ended, mut keys) = (BTreeMap::<_, Vec<Ended>>::new(), BTreeMap::<_, Vec<_>>::new());
    for (machine, version, info) in catalog.stored() {
        let kept = info.retention().or(default);
        for (age, status) in [(kept.done, Status::Done), (kept.failed, Status::Failed)] {
            let Some(age) = age.filter(|age| *age <= limits::DELAY_MAX) else { continue };
            ended.entry(age).or_default().push(Ended { machine: machine.to_owned(), version, status });
        }
        if let Some(age) = info.dedup {
            keys.entry(age).or_default().push((machine.to_owned(), version));
        }
    }
    let instances = ended.into_iter().map(|(age, of)| (age, What::Instances(of, Cursor::new(PIECE))));
    let keys = keys.into_iter().map(|(age, of)| (age, What::Keys(of, 0)));
    instances.chain(keys).map(|(age, what)| Sweep { age, what, more: true }).collect()
}

impl Shared {
    /// Lets go what came of age, in pieces; where nothing has an age it ends at once.
    pub(super) async fn purge_by_age(self: Arc<Self>) {
        let mut sweeps = sweeps(&self.catalog, self.config.retention);
        let mut rests = 0;
        while !self.is_stopped() && !sweeps.is_empty() {
            let began = Instant::now();
            for sweep in sweeps.iter_mut().filter(|sweep| sweep.more) {
                sweep.more = self.purge_piece(sweep).await.unwrap_or_else(|error| {
                    tracing::debug!(%error, "deleting by age failed");
                    false
                });
            }
            if sweeps.iter().any(|sweep| sweep.more) {
                // Half of the time is for the others.
                tokio::time::sleep(began.elapsed().max(SHORTEST)).await;
                continue;
            }
            tokio::time::sleep(self.config.sweep * REST).await;
            rests = (rests + 1) % ANEW;
            sweeps.iter_mut().for_each(|sweep| sweep.more = true);
            if rests == 0 {
                sweeps.iter_mut().for_each(Sweep::anew);
            }
        }
    }

    /// Whether there may be more.
    async fn purge_piece(&self, sweep: &mut Sweep) -> Result<bool, Error> {
        let age = sweep.age;
        match &mut sweep.what {
            What::Instances(ended, cursor) => {
                let purge = Purge { age, ended, from: cursor.from, look: cursor.look, limit: PIECE };
                let purged = self.store.purge(&purge).await?;
                if purged.gone > 0 {
                    tracing::debug!(instances = purged.gone, "deleted what ended long ago");
                }
                Ok(cursor.advance(PIECE, &purged))
            }
            What::Keys(machines, after) => {
                let expired = self.store.expire_keys(&KeyExpiry { age, machines, after: *after, limit: PIECE }).await?;
                *after = expired.last;
                Ok(expired.more)
            }
        }
    }
}
