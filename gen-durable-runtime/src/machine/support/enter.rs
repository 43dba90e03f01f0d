//! Steps that something else than `goto` leads to: a catch, an exit, an upgrade, a start.

use jiff::Timestamp;

use crate::{
    machine::{
        Cancelled, Carried, Catches, Expired, Failed, Machine, MachineInfo, Received, Slot, StartStep, Step, StepError,
        TakesOver,
        registry::{Caught, Stored},
    },
    model::{Entry, Failure, Invalid, Json, StartSpec},
};
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
    Ok(crate::machine::start(T::taken_over(Slot::new(at))).carry(carry).into_checked_spec()?)
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
    Ok(crate::machine::start(step).carry(carry).into_checked_spec()?)
}

/// A start step that this machine does not have.
pub fn no_start<M: Machine>(step: Option<&str>) -> StepError {
    let known: Vec<&str> = M::INFO.steps.iter().filter(|s| s.start).map(|s| s.name).collect();
    let asked = step.map_or_else(|| "several steps start it".to_owned(), |s| format!("{s:?} is not a start step"));
    StepError::new(format!("machine {}: {asked}; start steps: {}", M::NAME, known.join(", ")))
}
