//! The statements, each with its schema filled in once, when the store opens.

use std::sync::Arc;

use sqlx::AssertSqlSafe;

use crate::store::SchemaName;

macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Statements { $($name: Arc<str>),* }

        impl Statements {
            pub(super) fn new(schema: &SchemaName) -> Self {
                Self { $($name: schema.fill(include_str!(concat!("sql/", stringify!($name), ".sql"))).into()),* }
            }

            /// The same on another clock than the server's.
            #[cfg(feature = "testing")]
            pub(super) fn standing(&self) -> Self {
                Self { $($name: super::lent::standing(&self.$name).into()),* }
            }

            $(pub(super) fn $name(&self) -> AssertSqlSafe<Arc<str>> {
                // Safe: the text is ours, and the schema's name in it is quoted.
                AssertSqlSafe(Arc::clone(&self.$name))
            })*
        }
    };
}

statements!(
    blocked,
    buckets,
    buckets_mint,
    buckets_write,
    cancel,
    cancel_children,
    candidates,
    charge_hold,
    child_counts,
    children,
    claim,
    claim_next,
    claim_take,
    commit,
    commit_plain,
    consume,
    counters,
    counters_write,
    credit,
    define_limits,
    end_waits,
    ended,
    expire_keys,
    forget,
    history,
    hold,
    hold_briefly,
    hold_others,
    hold_targets,
    hold_slots,
    join,
    kin,
    kin_counts,
    limits,
    limits_keys,
    limits_shown,
    list,
    notify,
    owners,
    purge,
    purge_children,
    purge_hold,
    purge_lines,
    purge_look,
    queue_pause,
    queue_resume,
    queues_paused,
    queues_shown,
    reap,
    reclaim,
    release_held,
    renew,
    renew_one,
    retry,
    schedules,
    schedules_change,
    schedules_due,
    schedules_hold,
    schedules_known,
    schedules_move,
    schedules_named,
    schedules_put,
    schedules_remove,
    set_aside,
    show,
    signal,
    slots_taken,
    stand,
    start,
    start_plain,
    strangers,
    strangers_aside,
    surroundings,
    transactions,
    unblock,
    unblock_codes,
    unblock_name,
    worker_put,
    worker_remove,
    worker_seen,
    workers,
);
