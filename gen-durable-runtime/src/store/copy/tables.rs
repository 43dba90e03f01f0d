//! What is copied, in words no dialect owns: the tables, their columns, and what a value means.

/// A table of a copy, in the order in which they are copied: whoever is referred to comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `gen_durable`, with those parents whose id is not above the child's.
    Instances,
    /// The other parents, as pairs of a child and its parent: they can be set only once all instances stand.
    Links,
    /// `signals`, consumed ones too.
    Signals,
    /// `gen_durable_history`; lines may outlive their instance.
    History,
    /// `gen_durable_bucket_configs`.
    Configs,
    /// `gen_durable_buckets`.
    Buckets,
    /// `gen_durable_schedules`.
    Schedules,
    /// `gen_durable_queues`: what is paused stays so.
    Queues,
}

/// What a column holds, and so how [`Value`] says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 64 bits.
    Big,
    /// One of 32 bits.
    Int,
    /// One of 16 bits.
    Small,
    /// 0 or 1.
    Flag,
    /// A floating-point number, exact to the bit.
    Real,
    /// A text.
    Text,
    /// A status, by its stored name.
    Status,
    /// A JSON text.
    Json,
    /// Microseconds of the epoch as a whole number; the largest is `infinity`, the smallest `-infinity`.
    Moment,
    /// A JSON array of texts.
    Texts,
    /// A JSON array of whole numbers of 64 bits.
    Bigs,
    /// A JSON array of statuses.
    Statuses,
}

/// A column.
pub type Column = (&'static str, Kind);

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// None.
    Null,
    /// A whole number, or a moment.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Everything else.
    Text(String),
}

/// The values of a row, in the order of [`Table::columns`].
pub type Row = Vec<Value>;

impl Table {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Instances,
        Self::Links,
        Self::Signals,
        Self::History,
        Self::Configs,
        Self::Buckets,
        Self::Schedules,
        Self::Queues,
    ];

    /// The table's name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instances | Self::Links => "gen_durable",
            Self::Signals => "signals",
            Self::History => "gen_durable_history",
            Self::Configs => "gen_durable_bucket_configs",
            Self::Buckets => "gen_durable_buckets",
            Self::Schedules => "gen_durable_schedules",
            Self::Queues => "gen_durable_queues",
        }
    }

    /// What is copied of it: every column that is not generated.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Instances => &INSTANCES,
            Self::Links => &LINKS,
            Self::Signals => &SIGNALS,
            Self::History => &HISTORY,
            Self::Configs => &CONFIGS,
            Self::Buckets => &BUCKETS,
            Self::Schedules => &SCHEDULES,
            Self::Queues => &QUEUES,
        }
    }

    /// Whether the first column is an id, which an error may name.
    pub const fn has_ids(self) -> bool {
        matches!(self, Self::Instances | Self::Links | Self::Signals | Self::History)
    }
}

const INSTANCES: [Column; 50] = [
    ("id", Kind::Big),
    ("fsm", Kind::Text),
    ("fsm_version", Kind::Int),
    ("step", Kind::Text),
    ("status", Kind::Status),
    ("state", Kind::Json),
    ("carry", Kind::Json),
    ("result", Kind::Json),
    ("awaits", Kind::Texts),
    ("received", Kind::Bigs),
    ("queue", Kind::Text),
    ("priority", Kind::Small),
    ("home_queue", Kind::Text),
    ("home_priority", Kind::Small),
    ("concurrency_key", Kind::Text),
    ("concurrency_shard", Kind::Small),
    ("eligible_at", Kind::Moment),
    ("attempt", Kind::Int),
    ("errors", Kind::Int),
    ("crashes", Kind::Int),
    ("transitions", Kind::Big),
    ("last_error", Kind::Text),
    ("await_deadline", Kind::Moment),
    ("rate_limit", Kind::Text),
    ("weight", Kind::Real),
    ("locked_by", Kind::Text),
    ("lease_expires_at", Kind::Moment),
    ("parent_id", Kind::Big),
    ("children_pending", Kind::Int),
    ("correlation_key", Kind::Text),
    ("correlation_scope", Kind::Statuses),
    ("inserted_at", Kind::Moment),
    ("updated_at", Kind::Moment),
    ("await_mode", Kind::Small),
    ("await_need", Kind::Int),
    ("await_groups", Kind::Bigs),
    ("parent_round", Kind::Big),
    ("child_index", Kind::Int),
    ("counted", Kind::Flag),
    ("children_done", Kind::Int),
    ("children_quorum", Kind::Int),
    ("shielded", Kind::Flag),
    ("cancelled_at", Kind::Moment),
    ("cancel_reason", Kind::Text),
    ("deadline_at", Kind::Moment),
    ("expired_at", Kind::Moment),
    ("expires", Kind::Flag),
    ("exit_signals", Kind::Texts),
    ("blocked_by", Kind::Text),
    ("due_at", Kind::Moment),
];

const LINKS: [Column; 2] = [("id", Kind::Big), ("parent_id", Kind::Big)];

const SIGNALS: [Column; 7] = [
    ("id", Kind::Big),
    ("target_id", Kind::Big),
    ("name", Kind::Text),
    ("payload", Kind::Json),
    ("dedup_key", Kind::Text),
    ("inserted_at", Kind::Moment),
    ("consumed_at", Kind::Moment),
];

const HISTORY: [Column; 11] = [
    ("id", Kind::Big),
    ("instance_id", Kind::Big),
    ("visit", Kind::Big),
    ("from_step", Kind::Text),
    ("to_step", Kind::Text),
    ("outcome", Kind::Text),
    ("attempt", Kind::Int),
    ("worker", Kind::Text),
    ("started_at", Kind::Moment),
    ("committed_at", Kind::Moment),
    ("error", Kind::Text),
];

const CONFIGS: [Column; 6] = [
    ("kind", Kind::Text),
    ("name", Kind::Text),
    ("rate", Kind::Real),
    ("capacity", Kind::Real),
    ("shards", Kind::Small),
    ("by_operator", Kind::Flag),
];

const BUCKETS: [Column; 8] = [
    ("kind", Kind::Text),
    ("key", Kind::Text),
    ("shard", Kind::Small),
    ("capacity", Kind::Real),
    ("available", Kind::Real),
    ("last_refill", Kind::Moment),
    ("promised_at", Kind::Moment),
    ("owed", Kind::Real),
];

const QUEUES: [Column; 2] = [("queue", Kind::Text), ("paused_at", Kind::Moment)];

const SCHEDULES: [Column; 27] = [
    ("name", Kind::Text),
    ("code", Kind::Flag),
    ("fsm", Kind::Text),
    ("fsm_version", Kind::Int),
    ("step", Kind::Text),
    ("every_us", Kind::Big),
    ("cron", Kind::Text),
    ("tz", Kind::Text),
    ("skip_missed", Kind::Flag),
    ("state", Kind::Json),
    ("carry", Kind::Json),
    ("queue", Kind::Text),
    ("priority", Kind::Small),
    ("delay_us", Kind::Big),
    ("slot_field", Kind::Text),
    ("next_at", Kind::Moment),
    ("revision", Kind::Big),
    ("paused_at", Kind::Moment),
    ("known_at", Kind::Moment),
    ("last_at", Kind::Moment),
    ("fired_at", Kind::Moment),
    ("last_id", Kind::Big),
    ("last_new", Kind::Flag),
    ("missed_at", Kind::Moment),
    ("last_error", Kind::Text),
    ("inserted_at", Kind::Moment),
    ("updated_at", Kind::Moment),
];
