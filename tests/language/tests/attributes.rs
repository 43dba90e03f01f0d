//! The user's own attributes: kept, and each where it belongs.
#![deny(warnings, missing_docs, missing_debug_implementations)]

use std::sync::Arc;

use gen_durable::{Failed, Machine, Step as _, prelude::*};
use language::Instance;
use serde::{Deserialize, Serialize};

/// Serves.
#[derive(Debug, Clone, Copy)]
pub struct Hands;

/// Data of the user's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Given {
    /// Renamed.
    pub first_order: u64,
}

/// Never stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unstorable;

fn three() -> u32 {
    3
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{value:x}"))
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        u64::from_str_radix(&String::deserialize(from)?, 16).map_err(serde::de::Error::custom)
    }
}

/// What several steps share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Address {
    /// Where.
    pub city: String,
}

/// The enum's own documentation.
///
/// With a second paragraph.
#[derive(Debug, Clone)]
#[durable_fsm(handler(Hands), output(String), steps(derive(Debug, Clone, PartialEq, Default)))]
#[derive(PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum Attributes {
    /// Renames.
    #[step(start, next(Second, Taken, Never, Wide))]
    #[serde(rename_all = "camelCase")]
    #[cfg_attr(true, serde(deny_unknown_fields), allow(clippy::missing_docs_in_private_items))]
    First {
        /// Camel case.
        order_number: u64,
        /// Renamed.
        #[cfg_attr(true, serde(rename = "w", alias = "warehouse"))]
        warehouse_number: u64,
        /// Hexadecimal.
        #[cfg_attr(not(false), serde(with = "hex"))]
        colour: u64,
        /// Optional.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Defaults.
    #[step(next(Taken))]
    #[serde(default)]
    Second {
        /// Defaults to 3.
        #[serde(default = "three")]
        tries: u32,
        /// Flat.
        #[serde(flatten)]
        address: Option<Address>,
        /// Not stored.
        #[serde(skip)]
        skipped: Unstorable,
        /// Not on this system.
        #[cfg(false)]
        absent: NoSuchType,
    },
    /// Data of the user's.
    #[step(done)]
    Taken(Given),
    /// Compiled nowhere.
    #[cfg(false)]
    #[step(await(NoSuchSignal), catch(Second), next(Taken, Last), rate_limit(NoSuchLimit, by(x)), start, key(x))]
    Never {
        /// Unknown.
        x: NoSuchType,
    },
    /// Compiled everywhere.
    #[cfg(true)]
    #[step(next(Last), catch(Last), retry(attempts = 1))]
    #[allow(clippy::large_enum_variant)]
    Wide {
        /// Long.
        #[allow(clippy::type_complexity)]
        numbers: [Option<Box<(u64, Vec<Option<u64>>)>>; 3],
    },
    /// An end.
    #[cfg(true)]
    #[step(done)]
    #[deprecated(note = "for a while")]
    #[allow(deprecated)]
    Old,
    /// The end.
    #[step(done, next(Old))]
    Last,
}

impl From<Failed<Wide>> for Last {
    fn from(_: Failed<Wide>) -> Self {
        Self
    }
}

impl AttributesSteps for Hands {
    async fn first(&self, step: First, _: &StepContext) -> StepResult<First> {
        let address = step.note.map(|city| Address { city });
        Ok(match step.order_number {
            0 => goto(Wide { numbers: [None, None, None] }),
            _ => goto(Second { tries: 1, address, skipped: Unstorable }),
        })
    }
    async fn second(&self, step: Second, _: &StepContext) -> StepResult<Second> {
        Ok(goto(Given { first_order: u64::from(step.tries) }))
    }
    async fn taken(&self, step: Given, _: &StepContext) -> StepResult<Given> {
        Ok(done(format!("taken {}", step.first_order)))
    }
    async fn wide(&self, step: Wide, _: &StepContext) -> StepResult<Wide> {
        Err(format!("{} numbers", step.numbers.len()))?
    }
    #[allow(deprecated)]
    async fn old(&self, _: Old, _: &StepContext) -> StepResult<Old> {
        Ok(done("old".into()))
    }
    async fn last(&self, _: Last, _: &StepContext) -> StepResult<Last> {
        Ok(done("last".into()))
    }
}

#[test]
fn serdes_attributes_stand_on_the_step_struct() {
    let first = First { order_number: 1, warehouse_number: 2, colour: 255, note: None };
    assert_eq!(first.encode().unwrap().as_str(), r#"{"orderNumber":1,"w":2,"colour":"ff"}"#);
    let aliased = gen_durable_runtime::model::Json::stored(r#"{"orderNumber":1,"warehouse":2,"colour":"ff"}"#);
    assert_eq!(First::decode(&aliased).unwrap(), first);
    let unknown = gen_durable_runtime::model::Json::stored(r#"{"orderNumber":1,"w":2,"colour":"ff","x":1}"#);
    First::decode(&unknown).expect_err("`deny_unknown_fields` was kept");
}

/// A derive before the attribute sees what is written; one after it sees what is left: those of serde moved on.
#[derive(Debug, Serialize)]
#[durable_fsm]
#[derive(PartialEq, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Tagged {
    /// Only.
    #[step(start, done)]
    #[serde(rename_all = "camelCase")]
    OnlyOne {
        /// Camel case where the attribute is seen.
        order_number: u64,
    },
}

#[test]
fn the_enum_keeps_its_own() {
    let second = Attributes::Second { tries: 1, address: None, skipped: Unstorable };
    assert_eq!(second, second.clone());
    let text = serde_json::to_string(&Tagged::OnlyOne { order_number: 1 }).unwrap();
    assert_eq!(text, r#"{"step":"only-one","orderNumber":1}"#);
    let text = r#"{"step":"only-one","order_number":1}"#;
    assert_eq!(serde_json::from_str::<Tagged>(text).unwrap(), Tagged::OnlyOne { order_number: 1 });
    assert_eq!(OnlyOne { order_number: 1 }.encode().unwrap().as_str(), r#"{"orderNumber":1}"#);
}

#[test]
fn a_stored_step_may_lack_what_has_a_default() {
    let empty = gen_durable_runtime::model::Json::stored("{}");
    assert_eq!(Second::decode(&empty).unwrap(), Second { tries: 3, address: None, skipped: Unstorable });
}

#[test]
fn conditions_hold_for_all_that_is_made_of_a_step() {
    let names: Vec<_> = Attributes::INFO.steps.iter().map(|step| step.name).collect();
    assert_eq!(names, ["first", "second", "taken", "wide", "old", "last"]);
    assert_eq!(Attributes::INFO.step("first").unwrap().next, ["second", "taken", "wide"]);
}

#[test]
fn it_runs() {
    let run = |order_number| {
        let first = First { order_number, warehouse_number: 2, colour: 1, note: Some("Ghent".into()) };
        let mut run = Instance::start(start(first));
        run.run(&Arc::new(Hands));
        run.result::<Attributes>()
    };
    assert_eq!((run(1), run(0)), ("taken 1".into(), "last".into()));
}

#[test]
fn the_first_line_of_the_docs_is_kept() {
    assert_eq!(Attributes::INFO.doc, "The enum's own documentation.");
    assert_eq!(Attributes::INFO.step("first").unwrap().doc, "Renames.");
}

/// A job's attributes go to the function, and to its data where they fit.
#[durable_job(queue = "mail", key(to))]
#[allow(clippy::unused_async)]
#[must_use]
pub async fn mail(_hands: &Hands, to: String) -> Result<usize, std::convert::Infallible> {
    Ok(to.len())
}

#[test]
fn a_jobs_docs_are_kept() {
    assert_eq!(Mail::INFO.doc, "A job's attributes go to the function, and to its data where they fit.");
}
