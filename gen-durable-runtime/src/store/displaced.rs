//! A row that gave its business key up while it executed, as only another engine's scopes let it, and that cannot come
//! back: somebody else has the key.

use crate::model::{Change, ClaimToken, Exits, InstanceId, Parent, Transition};

const REASON: &str = "its business key has a newer occupant";

/// It fails by the claim that still stands on it: so its parent is told, as of any end.
pub(super) fn displaced(id: i64, token: &str, transitions: i64, parent: Option<Parent>) -> Transition {
    Transition {
        id: InstanceId::new(id),
        token: ClaimToken::new(token),
        transitions,
        attempt: 0,
        change: Change::Fail { reason: REASON.into(), carry: None },
        consumed: vec![],
        may_have_signals: false,
        parent,
        effects: None,
        started: None,
        cancels: false,
        held: None,
        may_hold: false,
        expires: false,
        exits: Exits::default(),
    }
}

/// Whether a commit may end the instance: by what it asks for, or because a row of another engine lost its key.
pub(super) fn may_end(t: &Transition) -> bool {
    t.ends() || t.parent.is_some_and(|parent| parent.round.is_none())
}
