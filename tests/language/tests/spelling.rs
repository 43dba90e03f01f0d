//! Types and names as users spell them: paths, generics with commas, arrays, macros, letters beyond ASCII.
#![deny(warnings)]
#![allow(missing_debug_implementations)]

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use gen_durable::prelude::*;
use language::Instance;
use serde::{Deserialize, Serialize};

pub const SIDES: usize = 3;

macro_rules! list {
    ($ty:ty) => { Vec<$ty> };
}

pub mod signals {
    use super::{Deserialize, Serialize, Signal};

    #[derive(Serialize, Deserialize, Signal)]
    pub struct Paid {}
    #[derive(Serialize, Deserialize, Signal)]
    pub struct Größe {
        pub größe: u8,
    }
}

pub mod limits {
    use super::{ConcurrencyKey, RateLimit};

    #[derive(RateLimit)]
    #[rate_limit(allowed = 1, per = "1s")]
    pub struct Slow;
    #[derive(ConcurrencyKey)]
    pub struct Alone;
}

pub mod jobs {
    pub mod deep {
        #[gen_durable::durable_job]
        pub async fn sweep(_: &super::super::Hands<u8, super::super::Boxed>) -> Result<(), std::fmt::Error> {
            Ok(())
        }
    }
}

pub struct Hands<A, B>(pub A, pub B);
pub type Boxed = Box<dyn Fn() -> u8 + Send + Sync>;
pub type Ended = Result<HashMap<String, Vec<u8>>, String>;

#[durable_fsm(
    output(Result<HashMap<String, Vec<u8>>, String>),
    carry((u8, Option<Cow<'static, str>>)),
    handler(Hands<u8, Box<dyn Fn() -> u8 + Send + Sync>>)
)]
#[derive(Default)]
pub enum Spelt {
    #[default]
    #[step(start, next(Straße, HTTPCall, V2, Maybe))]
    A,
    #[doc(alias = "street")]
    #[doc = concat!("A ", "street.")]
    #[step(await(self::signals::Paid, crate::signals::Größe), timeout = "1s", next(V2))]
    Straße {
        größe: u8,
        text: Cow<'static, str>,
        sides: [u8; SIDES],
        more: [u8; 1 + 2],
        pair: (u8, String),
        list: list!(u8),
        boxed: Box<[u8]>,
        nested: HashMap<String, Vec<Option<Cow<'static, [u8]>>>>,
        unit: (),
        at: std::option::Option<::jiff::Timestamp>,
    },
    #[step(done, timeout = "1s")]
    HTTPCall {
        #[doc(hidden)]
        x: u8,
    },
    #[step(await(crate::signals::Größe, count = 1), done, next(Maybe))]
    V2 { n: u8 },
    #[step(done, rate_limit(self::limits::Slow), concurrency(crate::limits::Alone), spawn(jobs::deep::Sweep))]
    Maybe,
}

type Carry = (u8, Option<Cow<'static, str>>);

impl SpeltSteps for Hands<u8, Boxed> {
    async fn a(&self, _: A, carry: &mut Carry, _: &StepContext) -> StepResult<A> {
        carry.1 = Some("kept".into());
        Ok(goto(Straße {
            größe: 1,
            text: "text".into(),
            sides: [1; SIDES],
            more: [2; 3],
            pair: (1, "one".into()),
            list: vec![1],
            boxed: Box::new([1, 2]),
            nested: HashMap::from([("key".into(), vec![None, Some(Cow::Borrowed([7].as_slice()))])]),
            unit: (),
            at: None,
        }))
    }
    async fn straße(
        &self,
        step: Straße,
        signal: Result<StraßeSignal, TimedOut>,
        _: &mut Carry,
        _: &StepContext,
    ) -> StepResult<Straße> {
        assert_eq!((step.nested["key"].len(), step.text.as_ref(), step.pair.1.as_str()), (2, "text", "one"));
        Ok(goto(V2 {
            n: match signal {
                Ok(StraßeSignal::Paid(_)) => step.größe,
                Ok(StraßeSignal::Größe(signal)) => signal.größe,
                Err(TimedOut) => self.0,
            },
        }))
    }
    async fn http_call(&self, _: HTTPCall, _: &mut Carry, _: &StepContext) -> StepResult<HTTPCall> {
        Ok(done(Err("not called".into())))
    }
    async fn v2(&self, step: V2, sizes: Vec<signals::Größe>, carry: &mut Carry, _: &StepContext) -> StepResult<V2> {
        let kept = carry.1.take().unwrap_or_default().into_owned();
        Ok(done(Ok(HashMap::from([(kept, vec![step.n, sizes[0].größe, (self.1)()])]))))
    }
    async fn maybe(&self, _: Maybe, _: &mut Carry, _: &StepContext) -> StepResult<Maybe> {
        Ok(done(Err("not reached".into())).spawn(jobs::deep::Sweep::start()))
    }
}

#[test]
fn types_and_names_are_spelt_freely() {
    let hands = Arc::new(Hands(1_u8, Box::new(|| 3_u8) as Boxed));
    let mut spelt = Instance::start(start(A));
    spelt.run(&hands);
    assert_eq!(spelt.step, "straße");
    spelt.send(&signals::Größe { größe: 9 });
    spelt.run(&hands);
    spelt.send(&signals::Größe { größe: 8 });
    spelt.run(&hands);
    let ended: Ended = spelt.result::<Spelt>();
    assert_eq!(ended.expect("a map")["kept"], [9, 8, 3]);
    assert!(matches!(Spelt::default(), Spelt::A));
}
