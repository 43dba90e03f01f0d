//! Lookups that generated code makes about the user's types, without an error where a type is not what it should be.
//!
//! A wrong type is reported once, by one bound at the user's token. Everything else that generated code needs of the
//! type goes through [`Quiet`]: an inherent item exists only where the bound holds, and shadows the trait's fallback.

use std::{any::Any, marker::PhantomData};

use super::{
    Awaitable, ConcurrencyInfo, ConcurrencyKey, Key, Machine, MachineInfo, Persist, RateLimit, RateLimitInfo, ServedBy,
    UpgradesCarry,
    registry::{AnyHandler, HandlerRegistration, Run, RunFuture},
    support,
};
use crate::model::{ConcurrencySlot, Invalid, Json, RateTake};

/// The user's type, asked quietly.
#[derive(Debug)]
pub struct Quiet<T>(PhantomData<T>);

/// What is said of a type that is not what it should be: never seen, its compile error stands elsewhere.
pub trait Fallback {
    /// Of a signal or a set.
    const SIGNAL_NAMES: &'static [&'static str] = &[];
    /// Of a machine.
    const MACHINE_NAME: &'static str = "";
    /// Of a machine.
    const MACHINE_INFO: Option<&'static MachineInfo> = None;
    /// Of a rate limit; the weight is filled in by the caller.
    const RATE: RateLimitInfo =
        RateLimitInfo { name: "", allowed: 1, per: std::time::Duration::MAX, burst: u32::MAX, shards: 1, weight: None };
    /// Of a concurrency key.
    const CONCURRENCY: ConcurrencyInfo = ConcurrencyInfo { name: "", limit: None, shards: 1, held: false };

    /// Reads a received signal.
    fn receive<T>(_name: &str, _payload: &Json) -> Option<Result<T, Invalid>> {
        None
    }
    /// Writes a stored value.
    ///
    /// # Errors
    /// Always.
    fn encode<T>(field: &str, _value: &T) -> Result<Json, Invalid> {
        Err(Invalid::new(field, "cannot be stored"))
    }
    /// Reads a stored value.
    ///
    /// # Errors
    /// Always.
    fn decode<T>(field: &str, _json: &Json) -> Result<T, Invalid> {
        Err(Invalid::new(field, "cannot be stored"))
    }
    /// Its default.
    fn default_value<T>() -> Option<T> {
        None
    }
    /// Reads an older version.
    ///
    /// # Errors
    /// Always.
    fn load_version<T>(_version: i32, _step: &str, _state: &Json) -> Result<T, Invalid> {
        Err(Invalid::new("version", "is of no machine"))
    }
    /// Reads the carry of an older version.
    ///
    /// # Errors
    /// Always.
    fn convert_carry<T>(_version: i32, _carry: Option<&Json>) -> Result<T, Invalid> {
        Err(Invalid::new("version", "is of no machine"))
    }
    /// What a rate limit takes.
    fn rate_take<P>(_parts: P, _weight: u64) -> RateTake {
        RateTake { key: String::new(), weight: 1.0, weight_max: 1.0 }
    }
    /// The slot of a concurrency key.
    fn slot<P>(_parts: P) -> ConcurrencySlot {
        ConcurrencySlot { key: String::new(), limit: None }
    }
}

impl<T> Fallback for Quiet<T> {}

impl<T: Awaitable> Quiet<T> {
    /// Its names, aliases included.
    pub const SIGNAL_NAMES: &'static [&'static str] = T::NAMES;
    /// Reads a received signal.
    pub fn receive(name: &str, payload: &Json) -> Option<Result<T, Invalid>> {
        T::receive(name, payload)
    }
}

impl<T: Machine> Quiet<T> {
    /// Its stored name.
    pub const MACHINE_NAME: &'static str = T::NAME;
    /// Its annotation.
    pub const MACHINE_INFO: Option<&'static MachineInfo> = Some(T::INFO);
    /// Reads this version or an older one.
    ///
    /// # Errors
    /// What [`Machine::load_version`] says.
    pub fn load_version(version: i32, step: &str, state: &Json) -> Result<T, Invalid> {
        T::load_version(version, step, state)
    }
    /// Reads the carry of this version or an older one, as the newer machine's.
    ///
    /// # Errors
    /// When it does not decode.
    pub fn convert_carry<C: UpgradesCarry<T::Carry>>(version: i32, carry: Option<&Json>) -> Result<C, Invalid> {
        T::load_carry(version, carry).map(C::upgraded_carry)
    }
}

impl<T: RateLimit> Quiet<T> {
    /// The limit as it is declared.
    pub const RATE: RateLimitInfo = RateLimitInfo {
        name: T::NAME,
        allowed: T::ALLOWED,
        per: T::PER,
        burst: T::BURST,
        shards: T::SHARDS,
        weight: None,
    };
    /// What it takes for these parts of its key.
    pub fn rate_take(parts: <T::Key as Key>::Refs<'_>, weight: u64) -> RateTake {
        support::rate_take::<T>(parts, weight)
    }
}

impl<T: ConcurrencyKey> Quiet<T> {
    /// The key type as it is declared.
    pub const CONCURRENCY: ConcurrencyInfo =
        ConcurrencyInfo { name: T::NAME, limit: T::LIMIT, shards: T::SHARDS, held: T::HELD };
    /// The slot for these parts of its key.
    pub fn slot(parts: <T::Key as Key>::Refs<'_>) -> ConcurrencySlot {
        support::concurrency_slot::<T>(parts)
    }
}

impl<T: Persist> Quiet<T> {
    /// Writes a stored value.
    ///
    /// # Errors
    /// What cannot be stored.
    pub fn encode(field: &str, value: &T) -> Result<Json, Invalid> {
        Json::encode(field, value)
    }
    /// Reads a stored value.
    ///
    /// # Errors
    /// What does not decode.
    pub fn decode(field: &str, json: &Json) -> Result<T, Invalid> {
        json.decode(field)
    }
}

impl<T: Default> Quiet<T> {
    /// Its default.
    pub fn default_value() -> Option<T> {
        Some(T::default())
    }
}

/// Whether a type serves a machine, asked quietly.
#[derive(Debug)]
pub struct Served<M, E>(PhantomData<(M, E)>);

/// The answer for a type that does not.
pub trait NotServed {
    /// It does not.
    const IS_SERVED: bool = false;
    /// Never used: its compile error stands beside it.
    const REGISTRATION: HandlerRegistration =
        HandlerRegistration { machine: std::any::TypeId::of::<()>, handler: nobody, run: never };
}

fn nobody() -> (std::any::TypeId, &'static str) {
    (std::any::TypeId::of::<()>(), "()")
}

fn never(_: AnyHandler, _: Run) -> RunFuture {
    Box::pin(std::future::ready(Err("no handler".into())))
}

impl<M, E> NotServed for Served<M, E> {}

impl<M: ServedBy<E>, E: Any + Send + Sync> Served<M, E> {
    /// It does.
    pub const IS_SERVED: bool = true;
    /// Its registration.
    pub const REGISTRATION: HandlerRegistration = HandlerRegistration::of::<M, E>();
}
