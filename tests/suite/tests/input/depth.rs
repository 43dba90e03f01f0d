//! Values that nest deep.

use gen_durable::{WaitError, prelude::*};
use serde::{Deserialize, Serialize};
use suite::{Db, nothing_lost};

use super::{LIMIT, Post, ROWS, client, worker};

suite::stores! {
    both {
        what_nests_too_deep_is_refused_and_what_nests_as_deep_as_allowed_comes_back,
        what_a_step_nests_too_deep_is_its_error,
        a_payload_stored_too_deep_fails_its_instance_alone,
        a_state_stored_too_deep_fails_its_instance_alone,
    }
}

/// Arrays in arrays. Dropped level by level: the stack of a thread is short.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nest(Vec<Nest>);

impl Nest {
    /// So many levels of JSON.
    fn of(levels: usize) -> Self {
        (1..levels).fold(Self::default(), |inner, _| Self(vec![inner]))
    }

    fn levels(&self) -> usize {
        std::iter::successors(Some(self), |nest| nest.0.first()).count()
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.0);
        while let Some(mut nest) = rest.pop() {
            rest.append(&mut nest.0);
        }
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Egg {
    pub nest: Nest,
}

#[durable_fsm(output(Nest), handler(Post), retry(attempts = 1))]
pub enum Bird {
    #[step(start, next(Brood), done)]
    Build { levels: usize, ends: bool },
    #[step(start, await(Egg), done)]
    Brood { nest: Nest },
}

impl BirdSteps for Post {
    async fn build(&self, step: Build, _: &StepContext) -> StepResult<Build> {
        // A state is an object around it.
        let nest = Nest::of(step.levels - usize::from(!step.ends));
        Ok(if step.ends { done(nest) } else { goto(Brood { nest }) })
    }
    async fn brood(&self, _: Brood, egg: Egg, _: &StepContext) -> StepResult<Brood> {
        Ok(done(egg.nest))
    }
}

/// As deep as JSON text may nest, and depths beyond: Postgres takes the first two of these, and not the third.
const DEEPEST: usize = 127;
const TOO_DEEP: [usize; 4] = [128, 130, 7_000, 20_000];

fn refused(error: &gen_durable::Error, field: &str) {
    assert_eq!((error.is_invalid(), error.field()), (true, Some(field)), "{error}");
    assert!(error.to_string().contains("levels deep"), "{error}");
}

/// O-56. Refused at write, before any SQL; the process has its stack still.
async fn what_nests_too_deep_is_refused_and_what_nests_as_deep_as_allowed_comes_back(db: Db) {
    let client = client(&db).await;
    let worker = worker(&client).await;
    let open = client.start(start(Brood { nest: Nest::of(1) })).await.expect("starts");
    for levels in TOO_DEEP {
        let nest = || Nest::of(levels - 1);
        refused(&client.start(start(Brood { nest: nest() })).await.expect_err("refused"), "state");
        refused(&open.signal(Egg { nest: nest() }).await.expect_err("refused"), "payload");
    }
    assert_eq!(db.count(ROWS).await, 1);
    for levels in [2, 100, DEEPEST] {
        let nest = || Nest::of(levels - 1);
        let bird = client.start(start(Brood { nest: nest() })).await.expect("starts");
        assert!(matches!(bird.get().await.expect("it loads"), Bird::Brood { nest: read } if read == nest()));
        bird.signal(Egg { nest: nest() }).await.expect("delivers");
        assert_eq!(bird.wait().timeout(LIMIT).await.expect("ends"), nest());
    }
    worker.stop().await;
}

/// O-56.
async fn what_a_step_nests_too_deep_is_its_error(db: Db) {
    let client = client(&db).await;
    let worker = worker(&client).await;
    for ends in [true, false] {
        for levels in TOO_DEEP {
            let built = client.start(start(Build { levels, ends })).await.expect("starts").wait().timeout(LIMIT).await;
            let deep = |reason: &str| reason.contains("levels deep") && reason.len() < 200;
            assert!(matches!(&built, Err(WaitError::Failed { reason, .. }) if deep(reason)), "{built:?}");
        }
    }
    let ended = client.start(start(Build { levels: DEEPEST, ends: true })).await.expect("starts");
    assert_eq!(ended.wait().timeout(LIMIT).await.expect("ends").levels(), DEEPEST);
    let open = client.start(start(Build { levels: DEEPEST, ends: false })).await.expect("starts");
    open.wait_parked().timeout(LIMIT).await.expect("it is stored");
    worker.stop().await;
    nothing_lost(&db, &[open.id().expect("known")]).await;
}

fn arrays(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

/// What a column of the store takes: Postgres by the depth of its stack, SQLite a thousand levels.
fn storable(db: &Db, levels: usize) -> bool {
    levels < if db.store.dialect() == "postgres" { 7_000 } else { 1_000 }
}

/// Written by others, by SQL: that instance fails, its neighbours end in the same claims.
async fn fails_alone(db: &Db, spoil: impl Fn(gen_durable::InstanceId, &str) -> String, wants: &str) {
    let client = client(db).await;
    for levels in [130, 999, 6_900].into_iter().filter(|levels| storable(db, *levels)) {
        let spoilt = client.start(start(Brood { nest: Nest::of(1) })).await.expect("starts");
        let eggs = (0..5).map(|_| start(Build { levels: 3, ends: true }));
        let neighbours = client.start_many(eggs).await.expect("starts");
        let json = format!(r#"{{"nest": {}}}"#, arrays(levels - 1));
        db.run(spoil(spoilt.id().expect("known"), &json)).await;
        let worker = worker(&client).await;
        let failed = spoilt.wait().timeout(LIMIT).await;
        assert!(
            matches!(&failed, Err(WaitError::Failed { reason, .. }) if reason.contains(wants)),
            "{levels}: {failed:?}"
        );
        for neighbour in neighbours {
            let neighbour = client.by_id::<Bird>(neighbour.id());
            assert_eq!(neighbour.wait().timeout(LIMIT).await.expect("ends").levels(), 3);
        }
        worker.stop().await;
    }
    nothing_lost(db, &[]).await;
}

/// O-56.
async fn a_payload_stored_too_deep_fails_its_instance_alone(db: Db) {
    let spoil = |id: gen_durable::InstanceId, json: &str| {
        format!(
            "INSERT INTO signals (target_id, name, payload) VALUES ({id}, 'egg', '{json}');
             UPDATE gen_durable SET status = 'runnable' WHERE id = {id}"
        )
    };
    fails_alone(&db, spoil, "does not decode").await;
}

/// O-56.
async fn a_state_stored_too_deep_fails_its_instance_alone(db: Db) {
    let spoil = |id: gen_durable::InstanceId, json: &str| {
        format!(
            "INSERT INTO signals (target_id, name, payload) VALUES ({id}, 'egg', '{{\"nest\": []}}');
             UPDATE gen_durable SET status = 'runnable', state = '{json}' WHERE id = {id}"
        )
    };
    fails_alone(&db, spoil, "does not decode").await;
}
