//! The statements.

macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        $(pub(super) fn $name() -> &'static str { include_str!(concat!("sql/", stringify!($name), ".sql")) })*
    };
}

statements!(
    changes,
    cancel,
    cancel_children,
    child_counts,
    children,
    claim,
    claim_next,
    claim_signals,
    claim_take,
    commit,
    commit_log,
    consume,
    consume_inbox,
    consume_kept,
    end_waits,
    end_waits_next,
    ended,
    forget,
    history,
    hold,
    ids,
    join,
    join_counted,
    kin,
    kin_counts,
    list,
    owners,
    reap,
    reclaim,
    renew,
    retry,
    retry_occupant,
    show,
    signal,
    signal_targets,
    signal_wake,
    stand,
    start,
    start_occupants,
);
