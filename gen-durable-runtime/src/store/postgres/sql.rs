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
    cancel,
    cancel_children,
    child_counts,
    children,
    claim,
    commit,
    consume,
    end_waits,
    ended,
    forget,
    history,
    hold,
    hold_briefly,
    hold_others,
    join,
    list,
    notify,
    owners,
    reap,
    reclaim,
    renew,
    renew_one,
    retry,
    show,
    signal,
    stand,
    start,
    transactions,
);
