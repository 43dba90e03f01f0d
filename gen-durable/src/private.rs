//! What generated code names. Not for users: nothing here is stable.

pub use core::{
    any::TypeId,
    primitive::{bool, i32, str, u8, u16, u32, u64, usize},
    time::Duration,
};
pub use std::{borrow::Cow, boxed::Box, option::Option, result::Result, string::String, sync::Arc, vec::Vec};

pub use inventory;
pub use jiff::Timestamp;
pub use serde::{self, Deserialize, Serialize};

pub use gen_durable_runtime::{
    machine::{
        quiet::{Fallback, NotServed, Quiet, Served},
        registry::{Exit, HandlerRegistration, MachineRegistration, Run, RunFuture, Stored},
        support, *,
    },
    model::{AwaitMode, Deadline, Entry, Failure, Invalid, Join, Json, RetryPolicy, StartSpec, Wait},
};
