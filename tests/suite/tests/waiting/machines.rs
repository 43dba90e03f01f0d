//! The machines of these promises.

use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Shop;

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Item {
    pub pieces: u32,
    /// The cart ends with it.
    pub last: bool,
}

/// One for each customer, or for nobody in particular. It does not await at its start.
#[durable_fsm(output(u32), handler(Shop))]
pub enum Cart {
    #[step(start, key(customer), next(Fill))]
    Open { customer: u64 },
    #[step(start, key(customer, kept), next(Fill))]
    OpenOnce { customer: u64 },
    #[step(start, next(Fill))]
    OpenForAnyone {},
    #[step(await(Item), next(Fill), done)]
    Fill { pieces: u32 },
}

impl CartSteps for Shop {
    async fn open(&self, _: Open, _: &StepContext) -> StepResult<Open> {
        Ok(goto(Fill { pieces: 0 }))
    }
    async fn open_once(&self, _: OpenOnce, _: &StepContext) -> StepResult<OpenOnce> {
        Ok(goto(Fill { pieces: 0 }))
    }
    async fn open_for_anyone(&self, _: OpenForAnyone, _: &StepContext) -> StepResult<OpenForAnyone> {
        Ok(goto(Fill { pieces: 0 }))
    }
    async fn fill(&self, step: Fill, item: Item, _: &StepContext) -> StepResult<Fill> {
        let pieces = step.pieces + item.pieces;
        Ok(if item.last { done(pieces) } else { goto(Fill { pieces }) })
    }
}

/// Passes a step in no time, between two parks.
#[durable_fsm(handler(Shop))]
pub enum Relay {
    #[step(start, await(Item), next(Blink))]
    Before {},
    #[step(next(After))]
    Blink {},
    #[step(await(Item), done)]
    After {},
}

impl RelaySteps for Shop {
    async fn before(&self, _: Before, _: Item, _: &StepContext) -> StepResult<Before> {
        Ok(goto(Blink {}))
    }
    async fn blink(&self, _: Blink, _: &StepContext) -> StepResult<Blink> {
        Ok(goto(After {}))
    }
    async fn after(&self, _: After, _: Item, _: &StepContext) -> StepResult<After> {
        Ok(done(()))
    }
}

pub fn item(pieces: u32) -> Item {
    Item { pieces, last: false }
}

pub fn last() -> Item {
    Item { pieces: 0, last: true }
}
