//! What generated code calls. Small generic functions: the macro only names types.

use jiff::Timestamp;

use super::{
    Awaitable, Cancelled, Carried, Catches, ConcurrencyKey, Expired, Failed, Joined, Key, KeyText, Machine,
    MachineInfo, NoKey, Outcome, Persist, RateLimit, Received, ScheduledCarry, Slot, StartStep, Step, StepContext,
    StepError, TakesOver,
    joined::NoChildren,
    registry::{Caught, Ran, Run, Stored},
};
use crate::model::{ConcurrencySlot, Entry, Failure, Invalid, Json, RateTake, ReceivedSignal, StartSpec, Wake};

// ---- one bound each: the only place where a wrong type is an error

/// A signal or a set is awaited.
pub const fn awaitable<X: Awaitable>() {}
/// A signal stands in a list.
pub const fn signal<X: super::Signal>() {}
/// A machine is named.
pub const fn machine<M: Machine>() {}
/// A rate limit is named.
pub const fn rate_limit<L: RateLimit>() {}
/// A concurrency key is named.
pub const fn concurrency_key<K: ConcurrencyKey>() {}
/// A value is kept.
pub const fn persist<T: Persist>() {}
/// A schedule begins with the carry's default.
pub const fn scheduled_carry<T: ScheduledCarry>() {}
/// A limit is used without a key.
pub fn no_key<K: NoKey>() -> K::Refs<'static> {
    K::none()
}

/// Whether a stored name is this machine's.
pub const fn accepts(info: &MachineInfo, name: &str) -> bool {
    let mut at = 0;
    while at < info.aliases.len() {
        if same(info.aliases[at], name) {
            return true;
        }
        at += 1;
    }
    same(info.name, name)
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Whether signals that are awaited together are told apart by their names.
pub const fn distinct(of: &[&[&str]]) -> bool {
    let mut list = 0;
    while list < of.len() {
        let mut other = list + 1;
        while other < of.len() {
            if meet(of[list], of[other]) {
                return false;
            }
            other += 1;
        }
        list += 1;
    }
    true
}

const fn meet(a: &[&str], b: &[&str]) -> bool {
    let mut at = 0;
    while at < a.len() * b.len() {
        if same(a[at / b.len()], b[at % b.len()]) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether an awaited signal or set, one of these, is contained in a larger one, or in as large a one before it.
pub const fn covered(names: &[&str], of: &[&[&str]]) -> bool {
    let (mut at, mut before) = (0, true);
    while at < of.len() {
        let equal = of[at].len() == names.len() && contains(of[at], names);
        before = before && !equal;
        let larger = of[at].len() > names.len() || (of[at].len() == names.len() && before);
        if larger && contains(of[at], names) {
            return true;
        }
        at += 1;
    }
    false
}

const fn contains(set: &[&str], names: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        if !meet(set, &[names[at]]) {
            return false;
        }
        at += 1;
    }
    !names.is_empty()
}

/// All names of a set: `N` in all.
pub const fn concat<const N: usize>(of: &[&[&'static str]]) -> [&'static str; N] {
    let (mut all, mut at, mut list) = ([""; N], 0, 0);
    while list < of.len() {
        let mut item = 0;
        while item < of[list].len() {
            all[at] = of[list][item];
            (at, item) = (at + 1, item + 1);
        }
        list += 1;
    }
    all
}

// ---- entry rules

/// All names of several signals.
pub fn names(of: &[&[&'static str]]) -> Vec<&'static str> {
    of.concat()
}

/// Step data is a JSON object.
///
/// # Errors
/// When it is not.
pub fn object(json: Json) -> Result<Json, Invalid> {
    match json.as_str() {
        "null" => Ok(Json::object()),
        text if text.starts_with('{') => Ok(json),
        _ => Err(Invalid::new("state", "is not a JSON object: step data is a struct with named fields")),
    }
}

/// The key of a limit, with its parts.
pub fn key_text<K: Key>(name: &str, parts: K::Refs<'_>) -> String {
    let mut key = KeyText::new(name);
    K::write(parts, &mut key);
    key.finish()
}

/// What a rate limit takes.
pub fn rate_take<L: RateLimit>(parts: <L::Key as Key>::Refs<'_>, weight: u64) -> RateTake {
    let key = key_text::<L::Key>(L::NAME, parts);
    RateTake { key, weight: count(weight), weight_max: f64::from(L::BURST) / f64::from(L::SHARDS.max(1)) }
}

/// The slot of a concurrency key.
pub fn concurrency_slot<K: ConcurrencyKey>(parts: <K::Key as Key>::Refs<'_>) -> ConcurrencySlot {
    ConcurrencySlot { key: key_text::<K::Key>(K::NAME, parts), limit: K::LIMIT }
}

/// Tokens as the bucket counts them; above its burst a bucket refuses them anyway.
fn count(weight: u64) -> f64 {
    u32::try_from(weight).map_or(f64::INFINITY, f64::from)
}

/// A weight in a field: any unsigned integer.
#[diagnostic::on_unimplemented(
    message = "a weight or quorum field is an unsigned integer, not `{Self}`",
    label = "not an unsigned integer"
)]
pub trait Unsigned: Copy {
    /// As the widest one that is needed.
    fn widened(self) -> u64;
}
macro_rules! unsigned {
    ($($t:ty),*) => { $( impl Unsigned for $t {
        fn widened(self) -> u64 { u64::try_from(self).unwrap_or(u64::MAX) }
    } )* };
}
unsigned!(u8, u16, u32, u64, u128, usize);

/// Reads such a field.
pub fn unsigned<T: Unsigned>(field: &T) -> u64 {
    field.widened()
}

/// Checks that a constant weight can ever pass.
pub const fn weight_passes(info: &super::RateLimitInfo, weight: u64) -> bool {
    weight <= (info.burst as u64) / (if info.shards == 0 { 1 } else { info.shards as u64 })
}

// ---- running a step

/// A job's future, which a worker moves between threads.
pub fn sent<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
    future
}

/// The carry of a run.
///
/// # Errors
/// When it does not decode.
pub fn carry<M: Machine>(run: &Run) -> Result<M::Carry, StepError> {
    M::load_carry(M::VERSION, run.carry.as_ref()).map_err(StepError::undecodable)
}

/// The step data of a run.
///
/// # Errors
/// When it does not decode.
pub fn step<S: Step>(run: &Run) -> Result<S, StepError> {
    S::decode(&run.state).map_err(StepError::undecodable)
}

/// What an outcome asks for.
///
/// # Errors
/// What cannot be stored.
pub fn ran<S: Step>(outcome: Outcome<S>, carry: &<S::Machine as Machine>::Carry) -> Result<Ran, StepError> {
    outcome.into_ran(carry)
}

/// A step that this version does not have.
pub fn no_step<M: Machine>(step: &str) -> Invalid {
    let known: Vec<&str> = M::INFO.steps.iter().map(|s| s.name).collect();
    Invalid::new("step", format!("{step:?} is none of machine {}: {}", M::NAME, known.join(", ")))
}

/// A version that this machine neither is nor takes over.
pub fn no_version<M: Machine>(version: i32) -> Invalid {
    Invalid::new("version", format!("{version} of machine {} is not known here", M::NAME))
}

type Receive<X> = fn(&str, &Json) -> Option<Result<X, Invalid>>;

fn received<X>(wake: &Wake, receive: Receive<X>) -> Result<Vec<X>, StepError> {
    let Wake::Signals(signals) = wake else { return Ok(vec![]) };
    let read = |s: &ReceivedSignal| receive(&s.name, &s.payload);
    signals.iter().filter_map(read).collect::<Result<_, _>>().map_err(StepError::undecodable)
}

/// The signal that ended a wait; `None` when it timed out.
///
/// # Errors
/// When it does not decode.
pub fn first<X>(wake: &Wake, receive: Receive<X>) -> Result<Option<X>, StepError> {
    Ok(received(wake, receive)?.into_iter().next())
}

/// All signals that have come.
///
/// # Errors
/// When one does not decode.
pub fn every<X>(wake: &Wake, receive: Receive<X>) -> Result<Vec<X>, StepError> {
    received(wake, receive)
}

/// A wait that ended without its signals, though nothing bounds it.
pub fn woken_early() -> StepError {
    StepError::new("woken without the signals it waits for")
}

/// The children of one machine.
pub fn joined<M>(context: &StepContext) -> Joined<M> {
    Joined::new(context.children().unwrap_or_else(|| std::sync::Arc::new(NoChildren)))
}

// ---- catching, upgrading, starting

/// Enters `T` from the failed step `S`.
///
/// # Errors
/// What does not decode, or cannot be stored.
pub fn caught<S, T>(stored: Stored, failure: &Failure, attempts: u32) -> Caught
where
    S: Step + Carried<Carry = <S::Machine as Machine>::Carry>,
    T: Step<Machine = S::Machine> + Catches<S>,
{
    let step = S::decode(&stored.state).map_err(StepError::undecodable)?;
    enter_caught::<S, T>(step, stored, failure, attempts)
}

/// Enters `T` from the machine `M`, whose step failed.
///
/// # Errors
/// What does not decode, or cannot be stored.
pub fn caught_machine<M, T>(stored: Stored, failure: &Failure, attempts: u32) -> Caught
where
    M: Machine + Carried<Carry = <M as Machine>::Carry>,
    T: Step<Machine = M> + Catches<M>,
{
    let machine = M::load(&stored.step, &stored.state).map_err(StepError::undecodable)?;
    enter_caught::<M, T>(machine, stored, failure, attempts)
}

fn enter_caught<S, T>(step: S, stored: Stored, failure: &Failure, attempts: u32) -> Caught
where
    S: Carried<Carry = <T::Machine as Machine>::Carry>,
    T: Catches<S>,
{
    let carry = stored_carry::<T::Machine>(&stored)?;
    let failed = Failed::new(step, carry, failure.error.as_str(), attempts).of_kind(failure.kind);
    enter_exit(T::caught(failed), stored)
}

/// Enters `T` from the cancelled machine `M`.
///
/// # Errors
/// What does not decode, or cannot be stored.
pub fn cancelled<M, T>(stored: Stored) -> Caught
where
    M: Machine + Carried<Carry = <M as Machine>::Carry>,
    T: Step<Machine = M> + TakesOver<Cancelled<M>>,
{
    let (machine, carry) = read::<M>(&stored)?;
    enter_exit(T::taken_over(Cancelled::new(machine, carry)), stored)
}

/// Enters `T` from the machine `M`, whose deadline passed.
///
/// # Errors
/// What does not decode, or cannot be stored.
pub fn expired<M, T>(stored: Stored) -> Caught
where
    M: Machine + Carried<Carry = <M as Machine>::Carry>,
    T: Step<Machine = M> + TakesOver<Expired<M>>,
{
    let (machine, carry) = read::<M>(&stored)?;
    enter_exit(T::taken_over(Expired::new(machine, carry)), stored)
}

/// Enters `T` from the machine `M`, which received the signal `G`.
///
/// # Errors
/// What does not decode, or cannot be stored.
pub fn signalled<M, G, T>(stored: Stored, signal: Result<G, Invalid>) -> Caught
where
    M: Machine + Carried<Carry = <M as Machine>::Carry>,
    T: Step<Machine = M> + TakesOver<Received<M, G>>,
{
    let signal = signal.map_err(StepError::undecodable)?;
    let (machine, carry) = read::<M>(&stored)?;
    enter_exit(T::taken_over(Received::new(machine, signal, carry)), stored)
}

fn read<M: Machine>(stored: &Stored) -> Result<(M, M::Carry), StepError> {
    let machine = M::load(&stored.step, &stored.state).map_err(StepError::undecodable)?;
    Ok((machine, stored_carry::<M>(stored)?))
}

fn stored_carry<M: Machine>(stored: &Stored) -> Result<M::Carry, StepError> {
    M::load_carry(M::VERSION, stored.carry.as_ref()).map_err(StepError::undecodable)
}

fn enter_exit<T: Step>(step: T, stored: Stored) -> Caught {
    let entry = step.entry(&stored_carry::<T::Machine>(&stored)?)?;
    entry.check()?;
    Ok((entry, stored.carry))
}

/// The start of a schedule's slot.
///
/// # Errors
/// What cannot be stored.
pub fn slot<T>(at: Timestamp) -> Result<StartSpec, StepError>
where
    T: StartStep + TakesOver<Slot>,
{
    let carry = <T::Machine as Machine>::default_carry().ok_or_else(|| Invalid::new("carry", "is needed"))?;
    Ok(super::start(T::taken_over(Slot::new(at))).carry(carry).into_checked_spec()?)
}

/// A carry, or the lack of one.
///
/// # Errors
/// When it does not decode.
pub fn read_carry<C>(
    carry: Option<&Json>,
    decode: fn(&str, &Json) -> Result<C, Invalid>,
    default: fn() -> Option<C>,
) -> Result<C, Invalid> {
    match carry {
        Some(json) => decode("carry", json),
        None => default().ok_or_else(|| Invalid::new("carry", "is missing")),
    }
}

/// Takes a row of an older version over.
pub fn upgrade<M: Machine>(version: i32, stored: Stored) -> Option<Result<Stored, StepError>> {
    let takes_over = |info: &'static MachineInfo| info.version == version;
    let older = std::iter::successors(M::INFO.upgrades, |info| info.upgrades);
    older.into_iter().any(takes_over).then(|| upgraded::<M>(version, &stored))
}

/// The entry rules of a stored step of the machine's own version.
///
/// # Errors
/// What does not decode, or cannot be stored.
pub fn enter<M: Machine>(stored: Stored) -> Result<Entry, StepError> {
    let carry = M::load_carry(M::VERSION, stored.carry.as_ref()).map_err(StepError::undecodable)?;
    let step = M::load(&stored.step, &stored.state).map_err(StepError::undecodable)?;
    Ok(step.into_entry(&carry)?)
}

fn upgraded<M: Machine>(version: i32, stored: &Stored) -> Result<Stored, StepError> {
    let machine = M::load_version(version, &stored.step, &stored.state).map_err(StepError::undecodable)?;
    let carry = M::load_carry(version, stored.carry.as_ref()).map_err(StepError::undecodable)?;
    let entry = machine.into_entry(&carry)?;
    Ok(Stored { step: entry.step.to_owned(), state: entry.state, carry: M::store_carry(&carry)? })
}

/// A start from raw JSON.
///
/// # Errors
/// What is no JSON, does not fit the step or the carry, or cannot be stored.
pub fn start_raw<T: StartStep>(state: &str, carry: Option<&str>) -> Result<StartSpec, StepError> {
    let step = T::decode(&Json::parse("state", state)?)?;
    let carry = carry.map(|text| Json::parse("carry", text)).transpose()?;
    let carry = match carry {
        Some(json) => <T::Machine as Machine>::load_carry(<T::Machine as Machine>::VERSION, Some(&json))?,
        None => <T::Machine as Machine>::default_carry().ok_or_else(|| Invalid::new("carry", "is needed"))?,
    };
    Ok(super::start(step).carry(carry).into_checked_spec()?)
}

/// A start step that this machine does not have.
pub fn no_start<M: Machine>(step: Option<&str>) -> StepError {
    let known: Vec<&str> = M::INFO.steps.iter().filter(|s| s.start).map(|s| s.name).collect();
    let asked = step.map_or_else(|| "several steps start it".to_owned(), |s| format!("{s:?} is not a start step"));
    StepError::new(format!("machine {}: {asked}; start steps: {}", M::NAME, known.join(", ")))
}
