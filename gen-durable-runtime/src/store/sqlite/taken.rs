//! A leased row, as claim_take.sql tells of it: one JSON list, and what may be large beside it.

use serde::Deserialize;
use sqlx::sqlite::SqliteRow;

use super::rows;
use crate::{
    Error,
    model::{Claim, InstanceId, Json, Parent, Wake},
    store::ClaimOrder,
};

/// In the order of the list.
#[derive(Debug, Deserialize)]
pub(super) struct Taken {
    id: i64,
    slot: Option<i16>,
    machine: String,
    version: i32,
    step: String,
    #[serde(skip)]
    state: String,
    #[serde(skip)]
    carry: Option<String>,
    attempt: u32,
    errors: u32,
    crashes: u32,
    transitions: i64,
    priority: i16,
    home_queue: Option<String>,
    home_priority: Option<i16>,
    concurrency_key: Option<String>,
    parent: Option<i64>,
    parent_round: Option<i64>,
    cancelled: u8,
    expired: u8,
    may_exit: u8,
    waited: u8,
    received: Option<String>,
    has_children: u8,
}

impl Taken {
    pub(super) fn of(row: &SqliteRow) -> Result<Self, Error> {
        let (state, carry) = (rows::get(row, "state")?, rows::get(row, "carry")?);
        Ok(Self { state, carry, ..rows::parsed(row, "taken")? })
    }

    /// A signal may leave its step.
    pub(super) fn may_exit(&self) -> bool {
        self.may_exit != 0
    }

    /// The signals it received are known by their ids only.
    pub(super) fn into_claim(self, order: &ClaimOrder<'_>) -> Result<(Claim, Vec<i64>), Error> {
        let received = self.received.as_deref().filter(|_| self.waited != 0).map(serde_json::from_str::<Vec<i64>>);
        let received = received.transpose().map_err(|_| rows::unreadable("received"))?;
        let wake = match (self.waited != 0, &received) {
            (false, _) => Wake::Ready,
            (true, None) => Wake::Unsatisfied,
            (true, Some(_)) => Wake::Signals(vec![]),
        };
        Ok((self.claim(order, wake), received.unwrap_or_default()))
    }

    fn claim(self, order: &ClaimOrder<'_>, wake: Wake) -> Claim {
        let parent = self.parent.map(|id| Parent { id: InstanceId::new(id), round: self.parent_round });
        Claim {
            id: InstanceId::new(self.id),
            token: order.token.clone(),
            machine: self.machine,
            version: self.version,
            step: self.step,
            state: Json::stored(self.state),
            carry: self.carry.map(Json::stored),
            attempt: self.attempt,
            errors: self.errors,
            crashes: self.crashes,
            transitions: self.transitions,
            queue: order.queue.to_owned(),
            priority: self.priority,
            home_queue: self.home_queue,
            home_priority: self.home_priority,
            concurrency_key: self.concurrency_key,
            slot: self.slot,
            holds: false,
            parent,
            cancelled: self.cancelled != 0,
            expired: self.expired != 0,
            exit: None,
            has_children: self.has_children != 0,
            wake,
        }
    }
}
