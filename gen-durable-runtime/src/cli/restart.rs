//! The verb that starts a new instance from a step of another one.

use super::{print, verbs::newest};
use crate::{
    client::Client,
    machine::registry::{MachineRegistration, Stored},
    model::{InstanceId, Json, Snapshot},
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

pub(super) async fn restart(
    client: &Client,
    original: &Snapshot,
    step: &str,
    state: Option<&str>,
    json: bool,
) -> Result<(), Fault> {
    let machine = newest(&original.machine)?;
    let stored = at(machine, converted(machine, original)?, original.id, step, state)?;
    let carry = stored.carry.clone();
    let entry = (machine.enter)(stored).map_err(|error| error.to_string())?;
    let id = client.start_fork(original, (machine.info)(), entry, carry).await?;
    match json {
        true => print::json(&serde_json::json!({"id": id, "from": original.id})),
        false => print::line(format!("started instance {id} from instance {}", original.id)),
    }
    Ok(())
}

/// As the newest version has it.
fn converted(machine: &MachineRegistration, original: &Snapshot) -> Result<Stored, Fault> {
    let json = |raw: &serde_json::value::RawValue| Json::stored(raw.get());
    let (state, carry) = (json(&original.state), original.carry.as_deref().map(json));
    let (stored, info) = (Stored { step: original.step.clone(), state, carry }, (machine.info)());
    if original.version == info.version {
        return Ok(stored);
    }
    let unknown = || format!("version {} of machine {} is not known here", original.version, info.name);
    let converted = (machine.upgrade)(original.version, stored).ok_or_else(unknown)?;
    Ok(converted.map_err(|error| error.to_string())?)
}

/// At this step: with the data that was given, or with its own if it stands there.
fn at(
    machine: &MachineRegistration,
    stored: Stored,
    id: InstanceId,
    step: &str,
    state: Option<&str>,
) -> Result<Stored, Fault> {
    let info = (machine.info)();
    let enters = |s: &&crate::machine::StepInfo| s.join.is_none();
    let Some(entered) = info.step(step).filter(enters) else {
        let known: Vec<&str> = info.steps.iter().filter(enters).map(|s| s.name).collect();
        return Err(format!(
            "machine {}: no instance can begin at a step {step:?}; it can at {}",
            info.name,
            known.join(", ")
        )
        .into());
    };
    let stands = info.step(&stored.step).is_some_and(|s| s.name == entered.name);
    let state = match state {
        Some(text) => Json::parse("state", text)?,
        None if stands => stored.state,
        None => {
            let (now, step) = (stored.step, entered.name);
            return Err(format!("instance {id} stands at {now}: say the data of step {step} with --state").into());
        }
    };
    Ok(Stored { step: entered.name.to_owned(), state, ..stored })
}
