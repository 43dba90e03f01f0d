//! Numbers for which JSON has none.

use gen_durable::{Client, WaitError, prelude::*};
use serde::{Deserialize, Serialize};
use suite::{Db, nothing_lost};

use super::{LIMIT, Post, ROWS, client, worker};

suite::stores! {
    both {
        a_number_that_is_not_finite_is_refused_by_the_name_of_its_field,
        a_number_that_is_not_finite_is_an_error_of_the_step_that_made_it,
        a_negative_zero_is_a_zero_and_every_other_number_comes_back_as_it_was,
        a_stored_number_that_no_float_can_hold_fails_its_instance_alone,
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Reading {
    pub value: f64,
}

/// Where a step puts the number that it makes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Into {
    Result,
    State,
    Carry,
    Child,
    Spawned,
}

#[durable_fsm(output(f64), carry(f64), handler(Post), retry(attempts = 1), catch(Off))]
pub enum Gauge {
    /// The number as text: it could not come in otherwise.
    #[step(start, next(Hold, Sum), spawn(Gauge), done)]
    Measure { number: String, into: Into },
    #[step(start, await(Reading), done)]
    Hold { exact: f64, rough: f32, list: Vec<f64> },
    #[step(join(Gauge), done)]
    Sum {},
    #[step(fail)]
    Off { error: String },
}

impl From<gen_durable::Failed<Gauge>> for Off {
    fn from(failed: gen_durable::Failed<Gauge>) -> Self {
        Off { error: failed.error }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "what does not fit is infinite, as it should be here")]
fn rough(number: f64) -> f32 {
    number as f32
}

fn hold(number: f64) -> Hold {
    Hold { exact: number, rough: rough(number), list: vec![0.5, number] }
}

impl GaugeSteps for Post {
    async fn measure(&self, step: Measure, carry: &mut f64, _: &StepContext) -> StepResult<Measure> {
        let number: f64 = step.number.parse()?;
        Ok(match step.into {
            Into::Result => done(number),
            Into::State => goto(hold(number)),
            Into::Carry => {
                *carry = number;
                done(0.0)
            }
            Into::Child => fan_out(Sum {}).children([start(hold(number)).carry(0.0)]).into(),
            Into::Spawned => done(0.0).spawn(start(hold(0.0)).carry(number)),
        })
    }
    async fn hold(&self, step: Hold, reading: Reading, _: &mut f64, _: &StepContext) -> StepResult<Hold> {
        Ok(done(step.exact + f64::from(step.rough) + step.list.iter().sum::<f64>() + reading.value))
    }
    async fn sum(&self, _: Sum, _: Joined<Gauge>, _: &mut f64, _: &StepContext) -> StepResult<Sum> {
        Ok(done(0.0))
    }
    async fn off(&self, step: Off, _: &mut f64, _: &StepContext) -> StepResult<Off> {
        Ok(fail(step.error))
    }
}

const NUMBERS: [(f64, &str); 3] = [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")];

fn refused(error: &gen_durable::Error, field: &str) {
    assert_eq!((error.is_invalid(), error.field()), (true, Some(field)), "{error}");
}

/// O-55. Before any SQL, wherever it stands.
async fn a_number_that_is_not_finite_is_refused_by_the_name_of_its_field(db: Db) {
    let client = client(&db).await;
    let open = client.start(start(hold(0.0)).carry(0.0)).await.expect("starts");
    for (number, _) in NUMBERS {
        let states = [
            Hold { exact: number, ..hold(0.0) },
            Hold { rough: rough(number), ..hold(0.0) },
            Hold { list: vec![1.0, number], ..hold(0.0) },
        ];
        for state in states {
            refused(&client.start(start(state).carry(0.0)).await.expect_err("refused"), "state");
        }
        refused(&client.start(start(hold(0.0)).carry(number)).await.expect_err("refused"), "carry");
        refused(&open.signal(Reading { value: number }).await.expect_err("refused"), "payload");
    }
    assert_eq!((db.count(ROWS).await, db.count("SELECT count(*) FROM signals").await), (1, 0));
}

async fn measured(client: &Client, number: &str, into: Into) -> Result<f64, WaitError> {
    let measure = Measure { number: number.into(), into };
    client.start(start(measure).carry(0.0)).await.expect("starts").wait().timeout(LIMIT).await
}

/// O-55. Its catch gets it; nobody is started, and no row is left that its own machine cannot load.
async fn a_number_that_is_not_finite_is_an_error_of_the_step_that_made_it(db: Db) {
    let client = client(&db).await;
    let worker = worker(&client).await;
    for (number, text) in NUMBERS {
        for (into, field) in [
            (Into::Result, "result"),
            (Into::State, "state"),
            (Into::Carry, "carry"),
            (Into::Child, "state"),
            (Into::Spawned, "carry"),
        ] {
            let made = measured(&client, text, into).await;
            let said = format!("{field} cannot be stored: JSON has no number for {number}");
            assert!(
                matches!(&made, Err(WaitError::Failed { reason, .. }) if reason.contains(&said)),
                "{into:?}: {made:?}"
            );
        }
    }
    worker.stop().await;
    assert_eq!(db.count(ROWS).await, 15);
    let all = client.list(gen_durable::Filter::default()).await.expect("lists");
    for instance in all {
        assert!(matches!(client.get::<Gauge>(instance.id).await.expect("it loads"), Gauge::Off { .. }));
    }
    nothing_lost(&db, &[]).await;
}

/// O-55. `jsonb` drops the sign of a zero.
async fn a_negative_zero_is_a_zero_and_every_other_number_comes_back_as_it_was(db: Db) {
    let client = client(&db).await;
    // Of all finite ones, large and small alike.
    let any: Vec<f64> =
        std::iter::repeat_with(|| f64::from_bits(rand::random())).filter(|n| n.is_finite()).take(2_000).collect();
    let held = client.start(start(Hold { list: any.clone(), ..hold(0.0) }).carry(0.0)).await.expect("starts");
    let Gauge::Hold { list, .. } = held.get().await.expect("it loads") else { panic!("where it began") };
    for (read, written) in list.into_iter().zip(any) {
        assert!(read == written, "{written:e} came back as {read:e}");
    }
    for number in [-0.0, f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, f64::MIN, f64::EPSILON, 0.1 + 0.2] {
        let state = Hold { exact: number, rough: 0.1, list: vec![number; 3] };
        let held = client.start(start(state).carry(number)).await.expect("starts");
        let Gauge::Hold { exact, rough, list } = held.get().await.expect("it loads") else { panic!("where it began") };
        assert_eq!((exact, rough, list), (number, 0.1, vec![number; 3]));
    }
    let worker = worker(&client).await;
    let ended = client.start(start(hold(-0.0)).carry(-0.0)).await.expect("starts");
    ended.signal(Reading { value: -0.0 }).await.expect("delivers");
    assert_eq!(ended.wait().timeout(LIMIT).await.expect("ends"), 0.5);
    worker.stop().await;
}

/// O-55: `jsonb` takes 1e400. It is an error of the step, as all that does not decode; its catch cannot load it either.
async fn a_stored_number_that_no_float_can_hold_fails_its_instance_alone(db: Db) {
    let client = client(&db).await;
    let measure = || Measure { number: "1".into(), into: Into::Result };
    let spoilt = client.start(start(hold(0.0)).carry(0.0)).await.expect("starts");
    let neighbour = client.start(start(measure()).carry(0.0)).await.expect("starts");
    let id = spoilt.id().expect("known");
    let state = r#"{"exact": 1e400, "rough": 0, "list": []}"#;
    db.run(format!("UPDATE gen_durable SET state = '{state}' WHERE id = {id}")).await;
    spoilt.signal(Reading { value: 1.0 }).await.expect("delivers");
    let worker = worker(&client).await;
    let failed = spoilt.wait().timeout(LIMIT).await;
    let said = "state does not decode";
    assert!(matches!(&failed, Err(WaitError::Failed { reason, .. }) if reason.contains(said)), "{failed:?}");
    assert_eq!(neighbour.wait().timeout(LIMIT).await.expect("ends"), 1.0);
    worker.stop().await;
}
