//! Schedules: looks after the rows of those in the code, and fires slots when they come.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{shared::Shared, timetable::Keeping};
use crate::{
    Error,
    machine::StepError,
    model::{
        Failure, StartSpec, Started, limits,
        schedule::{LATE, decide},
    },
    store::{DueSchedules, Fired, Firing, ScheduleChange, Schedules, StoredSchedule},
};

/// Schedules that are fired at once.
const PIECE: u32 = 100;
/// How often schedules are looked for, should nothing have told of one; where there are none, whoever ends waits tells of the
/// first.
const LOOK: Duration = Duration::from_secs(5);
const NONE: Duration = Duration::from_secs(24 * 3_600);
/// The shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(1);
/// How soon a slot is tried again whose business key someone else is inserting.
const BUSY: Duration = Duration::from_millis(250);
/// How often the rows of the code's schedules are looked after.
const KEEP: Duration = Duration::from_secs(30);

/// What a look found.
pub(super) struct Look {
    /// The database's time.
    #[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "only the test kit goes by it"))]
    pub(super) now: Timestamp,
    /// How long it is until the next slot comes.
    pub(super) next: Option<Duration>,
}

impl Shared {
    /// Fires slots when they come, by the database's clock.
    pub(super) async fn fire_schedules_on_time(self: Arc<Self>) {
        let mut kept = None;
        while !self.is_stopped() {
            let began = Instant::now();
            match self.look_after_schedules(&mut kept).await {
                Ok(look) => {
                    if let Some(next) = look.next {
                        self.waker.bells.schedules.ring_in(next.saturating_sub(began.elapsed()).max(SHORTEST));
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "firing schedules failed, trying again");
                    self.waker.bells.schedules.ring_in(self.config.poll);
                }
            }
            let longest = if self.some_schedules.load(Ordering::Acquire) { LOOK } else { NONE };
            self.waker.bells.schedules.wait(longest).await;
        }
    }

    async fn look_after_schedules(&self, kept: &mut Option<Instant>) -> Result<Look, Error> {
        if kept.is_none_or(|at| at.elapsed() >= KEEP) {
            // What cannot be kept keeps none from firing.
            match self.keep_schedules(kept.is_none(), None).await {
                Ok(()) => *kept = Some(Instant::now()),
                Err(error) => tracing::warn!(%error, "looking after schedules failed, trying again"),
            }
        }
        self.fire_due_schedules().await
    }

    /// Brings the rows of the code's schedules up to date: at boot a changed annotation takes effect, later only what is missing
    /// or given up. `since` is when this process began, where that is not now.
    pub(super) async fn keep_schedules(&self, boot: bool, since: Option<Timestamp>) -> Result<(), Error> {
        let planned = self.catalog.timetable().planned();
        let names: Vec<String> = planned.iter().flat_map(|planned| planned.names.iter().cloned()).collect();
        if names.is_empty() {
            return Ok(());
        }
        // Of two that write one row at once the second looks again, and finds it as it should be.
        for _ in 0..10 {
            let Schedules { now, rows } = self.store.schedules(Some(&names)).await?;
            let (mut known, mut lost) = (Vec::new(), false);
            for planned in planned {
                for twin in planned.twins(&rows, now) {
                    tracing::warn!(schedule = twin.name, "a schedule has a row under its old name too: removed");
                    self.store.remove_schedule(&twin.name, twin.revision).await?;
                }
                match planned.keep(&rows, since.unwrap_or(now), boot) {
                    Keeping::Put(put) => lost |= !self.store.put_schedule(&put).await?,
                    Keeping::Known(name) => known.push(name),
                    Keeping::Leave => {}
                }
            }
            if !known.is_empty() {
                self.store.know_schedules(&known).await?;
            }
            if !lost {
                break;
            }
        }
        Ok(())
    }

    /// Fires what has come, a page after the other: what cannot fire keeps its place, and holds up nobody behind it.
    pub(super) async fn fire_due_schedules(&self) -> Result<Look, Error> {
        let machines = self.catalog.timetable().machines();
        let mut due = self.store.due_schedules(machines, None, PIECE).await?;
        self.some_schedules.store(due.some, Ordering::Release);
        let mut look = self.fire_page(&due).await?;
        while due.rows.len() == PIECE as usize {
            let Some(last) = due.rows.last().and_then(|row| Some((row.next?, row.name.clone()))) else { break };
            due = self.store.due_schedules(machines, Some((last.0, &last.1)), PIECE).await?;
            let page = self.fire_page(&due).await?;
            look.next = look.next.into_iter().chain(page.next).min();
        }
        Ok(look)
    }

    async fn fire_page(&self, due: &DueSchedules) -> Result<Look, Error> {
        let (mut plain, mut keyed, mut next) = (Vec::new(), Vec::new(), due.next);
        for row in &due.rows {
            match self.firing(row, due.now) {
                None => {}
                Some(Err(error)) => self.note(row, &error.to_string()).await?,
                Some(Ok(firing)) => {
                    let until = firing.next.map(|at| Duration::try_from(at.duration_since(due.now)));
                    next = next.into_iter().chain(until.into_iter().flatten()).min();
                    // A key that someone else is inserting must hold up no other schedule.
                    let has_key = firing.fire.as_ref().is_some_and(|(_, spec)| spec.key.is_some());
                    if has_key { keyed.push((row, firing)) } else { plain.push((row, firing)) }
                }
            }
        }
        let mut pieces: Vec<Vec<(&StoredSchedule, Firing)>> = keyed.into_iter().map(|one| vec![one]).collect();
        pieces.insert(0, plain);
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            if self.fire_piece(piece, due.now).await? {
                next = Some(next.map_or(BUSY, |next| next.min(BUSY)));
            }
        }
        Ok(Look { now: due.now, next })
    }

    /// What this process does about a slot that has come; `None` when it is another's to fire.
    fn firing(&self, row: &StoredSchedule, now: Timestamp) -> Option<Result<Firing, StepError>> {
        let (definition, due) = (&row.definition, row.next?);
        let served = self.catalog.newest(&definition.machine)?;
        let is_ours = match definition.start {
            None => self.catalog.timetable().has(row, now),
            Some(_) => definition.version <= served.info.version,
        };
        is_ours.then(|| {
            let slots = definition.recurrence.read()?;
            let decision = decide(&slots, definition.skip_missed, due, now);
            let start = |slot| -> Result<(Timestamp, StartSpec), StepError> {
                let start = AssertUnwindSafe(|| definition.start_of(slot, served.registration));
                let start = std::panic::catch_unwind(start);
                Ok((slot, start.unwrap_or_else(|panic| Err(StepError::new(Failure::panicked(&*panic).error)))?))
            };
            let fire = decision.fire.map(start).transpose()?;
            let (name, revision) = (row.name.clone(), row.revision);
            Ok(Firing { name, revision, next: decision.next, fire, missed: decision.missed })
        })
    }

    /// Whether some must be tried again soon. What cannot be stored keeps only its own schedule from firing.
    async fn fire_piece(&self, piece: Vec<(&StoredSchedule, Firing)>, now: Timestamp) -> Result<bool, Error> {
        let (rows, firings): (Vec<&StoredSchedule>, Vec<Firing>) = piece.into_iter().unzip();
        match self.store.fire_schedules(&firings).await {
            Ok(fired) => {
                // Whoever was faster may have fired by hand, or dies before it commits: the slot is looked at again.
                let lost = fired.contains(&Fired::Lost);
                firings.iter().zip(fired).for_each(|(firing, fired)| self.tell_fired(firing, fired, now));
                return Ok(lost);
            }
            Err(error) if error.is_transient() && takes_a_key(&firings) => {
                tracing::debug!(%error, "a schedule waits for a business key");
                return Ok(true);
            }
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => {}
        }
        for (row, firing) in rows.into_iter().zip(firings) {
            match self.store.fire_schedules(std::slice::from_ref(&firing)).await {
                Ok(fired) => fired.into_iter().for_each(|fired| self.tell_fired(&firing, fired, now)),
                Err(error) if error.is_transient() => return Err(error),
                Err(error) => self.note(row, &error.to_string()).await?,
            }
        }
        Ok(false)
    }

    /// Wakes who runs it, and says in the log what was not as planned.
    fn tell_fired(&self, firing: &Firing, fired: Fired, now: Timestamp) {
        let schedule = firing.name.as_str();
        match (fired, &firing.fire) {
            (Fired::Started(started), Some((slot, spec))) => {
                if started.is_new() {
                    self.waker.wake(spec.first_queue());
                }
                let late = Duration::try_from(now.duration_since(*slot)).unwrap_or_default();
                match started {
                    Started::Duplicate(id) => {
                        tracing::info!(schedule, %slot, %id, "a slot starts nothing: its business key has an instance")
                    }
                    Started::New(id) if late > LATE => {
                        tracing::warn!(schedule, %slot, ?late, %id, "a slot is caught up")
                    }
                    Started::New(id) => tracing::debug!(schedule, %slot, %id, "fired"),
                }
            }
            (Fired::Lost, _) => return,
            (Fired::Started(_) | Fired::PassedOver, _) => {}
        }
        if let Some(missed) = firing.missed {
            tracing::warn!(schedule, latest = %missed, "slots were missed");
        }
    }

    /// Its slot stays: a deploy may mend what keeps it from starting.
    async fn note(&self, row: &StoredSchedule, error: &str) -> Result<(), Error> {
        let error = limits::error_text(error);
        if row.error.as_deref() == Some(error.as_str()) {
            return Ok(());
        }
        tracing::warn!(schedule = row.name, error, "a slot cannot be fired, trying again");
        let (name, revision, next) = (row.name.clone(), row.revision, row.next);
        let change = ScheduleChange { name, revision, paused: false, next, error: Some(error) };
        self.store.change_schedule(&change).await.map(drop)
    }
}

fn takes_a_key(firings: &[Firing]) -> bool {
    firings.iter().any(|firing| firing.fire.as_ref().is_some_and(|(_, spec)| spec.key.is_some()))
}
