//! Which machines this process serves, resolved once at boot, and every reason not to start.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    boot::{NOTHING_LINKED, names, step_names, takes_over, twins, unserved, unsupported},
    limiter,
    timetable::Timetable,
};
use crate::{
    Error,
    machine::{
        ExitKind, MachineInfo, limits_of,
        registry::{self, AnyHandler, MachineRegistration, Run, RunFuture},
    },
    model::{LimitTerms, admission::LimitKind},
    store::{Known, LimitDef},
};

/// Who serves what: given to a worker before it starts.
#[derive(Default)]
pub struct Handlers {
    by_type: HashMap<TypeId, AnyHandler>,
    by_machine: HashMap<TypeId, (RunStep, AnyHandler)>,
    /// Machines that nobody serves here are left to other workers.
    pub leave_unserved: bool,
}

/// Runs one step on an erased handler.
pub type RunStep = fn(AnyHandler, Run) -> RunFuture;

impl Handlers {
    /// `handler` serves every machine that names its type.
    pub fn add<E: Send + Sync + 'static>(&mut self, handler: Arc<E>) {
        self.by_type.insert(TypeId::of::<E>(), handler);
    }

    /// `handler` serves this one machine, whatever it names.
    pub fn serve(&mut self, machine: TypeId, run: RunStep, handler: AnyHandler) {
        self.by_machine.insert(machine, (run, handler));
    }
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (types, machines) = (self.by_type.len(), self.by_machine.len());
        f.debug_struct("Handlers").field("types", &types).field("machines", &machines).finish()
    }
}

/// A machine that this process serves.
pub(super) struct Served {
    pub(super) info: &'static MachineInfo,
    pub(super) registration: &'static MachineRegistration,
    pub(super) run: RunStep,
    pub(super) handler: AnyHandler,
    pub(super) awaits_signals: bool,
    /// It has keys that are kept to the end.
    pub(super) may_hold: bool,
}

/// Every machine this process serves, by the names and versions that may be stored.
#[derive(Default)]
pub struct Catalog {
    by_stored: HashMap<String, BTreeMap<i32, Arc<Served>>>,
    known: Known,
    queues: Vec<&'static str>,
    infos: Vec<&'static MachineInfo>,
    limits: Vec<LimitDef>,
    timetable: Timetable,
}

impl Catalog {
    /// Resolves every machine linked into this binary.
    ///
    /// # Errors
    /// One message with everything that is wrong.
    pub fn resolve(handlers: &Handlers, dialect: &str) -> Result<Self, Error> {
        let machines: Vec<_> = registry::machines().collect();
        let mut faults = Vec::new();
        if machines.is_empty() {
            faults.push(NOTHING_LINKED.to_owned());
        }
        let mut catalog = Self::default();
        for machine in &machines {
            match catalog.serve(machine, handlers, &machines) {
                Err(_) if handlers.leave_unserved => {}
                Err(fault) => faults.push(fault),
                Ok(()) => faults.extend(unsupported((machine.info)(), dialect)),
            }
        }
        faults.extend(twins(&machines));
        let (limits, differing) = limiter::of_steps(catalog.infos.iter().flat_map(|info| info.steps));
        catalog.limits = limits;
        faults.extend(differing);
        faults.extend(catalog.schedule());
        if faults.is_empty() {
            return Ok(catalog);
        }
        Err(Error::boot(faults.join("\n")))
    }

    fn serve(
        &mut self,
        registration: &'static MachineRegistration,
        handlers: &Handlers,
        machines: &[&'static MachineRegistration],
    ) -> Result<(), String> {
        let info = (registration.info)();
        let Some((run, handler)) = handler_of(registration, handlers) else {
            let is_taken_over = machines.iter().any(|m| takes_over((m.info)(), info));
            return if is_taken_over { Ok(()) } else { Err(unserved(registration)) };
        };
        let awaits_signals = info.steps.iter().any(|s| s.awaits.is_some())
            || info.exits.iter().any(|e| matches!(e.kind, ExitKind::Signal(_)));
        let may_hold = info.steps.iter().any(|s| s.concurrency.is_some_and(|c| c.held));
        let served = Arc::new(Served { info, registration, run, handler, awaits_signals, may_hold });
        let mut version = Some(info);
        while let Some(stored) = version {
            self.learn(stored, &served);
            version = stored.upgrades;
        }
        let held = info.steps.iter().filter_map(|s| s.concurrency.filter(|c| c.held));
        self.known.held.extend(held.map(|c| c.name.to_owned()));
        self.infos.push(info);
        self.queues.push(info.queue);
        self.queues.extend(info.steps.iter().filter_map(|s| s.queue));
        Ok(())
    }

    /// Rows of `stored` are run by `served`.
    fn learn(&mut self, stored: &'static MachineInfo, served: &Arc<Served>) {
        for name in names(stored) {
            let versions = self.by_stored.entry(name.to_owned()).or_default();
            // A version that has handlers of its own keeps them.
            let own = served.info.version == stored.version;
            if versions.contains_key(&stored.version) && !own {
                continue;
            }
            if versions.insert(stored.version, Arc::clone(served)).is_some() {
                continue;
            }
            let steps = stored.steps.iter().flat_map(|info| step_names(info).map(move |step| (info, step)));
            for (info, step) in steps {
                self.known.machines.push(name.to_owned());
                self.known.versions.push(stored.version);
                self.known.steps.push(step.to_owned());
                self.known.timed.push(info.awaits.is_some() && info.timeout.is_some());
            }
        }
    }

    /// Reads the schedules of the newest version of each machine; answers with what is wrong.
    fn schedule(&mut self) -> Vec<String> {
        let newest =
            self.infos.iter().filter(|info| self.newest(info.name).is_some_and(|s| std::ptr::eq(s.info, **info)));
        let served: Vec<Arc<Served>> = newest.filter_map(|info| self.newest(info.name).cloned()).collect();
        let names = self.by_stored.keys().cloned().collect();
        let (timetable, faults) = Timetable::of(&served, names);
        self.timetable = timetable;
        faults
    }

    /// The machine that starts under this stored name: the one of the highest version.
    pub(super) fn newest(&self, machine: &str) -> Option<&Arc<Served>> {
        self.by_stored.get(machine)?.last_key_value().map(|(_, served)| served)
    }

    pub(super) fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    pub(super) fn find(&self, machine: &str, version: i32) -> Option<&Arc<Served>> {
        self.by_stored.get(machine)?.get(&version)
    }

    /// Every stored name and version, with the machine that works its rows: what that says holds for all of them.
    pub(super) fn stored(&self) -> impl Iterator<Item = (&str, i32, &'static MachineInfo)> {
        self.by_stored.iter().flat_map(|(name, versions)| {
            versions.iter().map(move |(version, served)| (name.as_str(), *version, served.info))
        })
    }

    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// The queues its machines stand in.
    pub fn queues(&self) -> impl Iterator<Item = &'static str> {
        self.queues.iter().copied()
    }

    /// The limits of its machines.
    pub fn limits(&self) -> &[LimitDef] {
        &self.limits
    }

    /// Says of limits what the builder of the worker says, in its order; answers with every reason why not.
    pub fn say_of_limits(&mut self, said: &[(LimitKind, &'static str, LimitTerms)]) -> Vec<String> {
        let named = limits_of(self.infos.iter().copied());
        let mut say = |(kind, name, terms): &(LimitKind, &'static str, LimitTerms)| -> Result<(), String> {
            let limit = self.limits.iter_mut().find(|limit| limit.kind == *kind && limit.name == *name);
            let limit = limit.ok_or_else(|| match named.get(&(*kind, *name)) {
                Some(_) => format!("`{name}` has no limit of its own to change: give its type a `limit`"),
                None => format!("terms are given for the limit `{name}`, which no machine served here names"),
            })?;
            let weights = named.get(&(*kind, *name)).map_or(&[][..], |limit| limit.weights.as_slice());
            limit.config = terms.over(*kind, limit.config, weights).map_err(|e| format!("the limit `{name}`: {e}"))?;
            Ok(())
        };
        said.iter().filter_map(|one| say(one).err()).collect()
    }

    /// The machines that are served.
    pub fn machines(&self) -> &[&'static MachineInfo] {
        &self.infos
    }
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.infos.iter().map(|i| (i.name, i.version))).finish()
    }
}

fn handler_of(machine: &MachineRegistration, handlers: &Handlers) -> Option<(RunStep, AnyHandler)> {
    let id = (machine.type_id)();
    if let Some((run, handler)) = handlers.by_machine.get(&id) {
        return Some((*run, Arc::clone(handler)));
    }
    registry::handlers().filter(|h| (h.machine)() == id).find_map(|h| {
        let handler = handlers.by_type.get(&(h.handler)().0)?;
        Some((h.run, Arc::clone(handler)))
    })
}
