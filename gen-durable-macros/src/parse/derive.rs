//! The helper attributes of the derives: `#[signal(..)]`, `#[rate_limit(..)]`, `#[concurrency(..)]`.

use std::{collections::BTreeMap, time::Duration};

use syn::{Attribute, LitStr, Path, Type};

use super::options::{Opt, Table, split};
use crate::{diag::Diag, model::At};

/// What the derives read.
#[derive(Default)]
pub struct DeriveOptions {
    pub name: Option<LitStr>,
    pub aliases: Vec<LitStr>,
    pub allowed: Option<At<u32>>,
    pub per: Option<Duration>,
    pub burst: Option<At<u32>>,
    pub shards: Option<At<u16>>,
    pub limit: Option<At<u32>>,
    pub held: Option<proc_macro2::Span>,
    pub key: Vec<Type>,
    pub facade: Option<Path>,
}

const NAME: (&str, &str) = ("name", "`name = \"..\"`");
const CRATE: (&str, &str) = ("crate", "`crate(path)`");
const KEY: (&str, &str) = ("key", "`key(Type, ..)`");
const SHARDS: (&str, &str) = ("shards", "`shards = 8`");

/// `#[signal(..)]`.
pub const SIGNAL: Table = Table {
    of: "#[signal]",
    known: &[NAME, ("alias", "`alias = \"..\"` or `alias(\"..\", \"..\")`"), CRATE],
    repeated: &[],
};
/// `#[signals(..)]`.
pub const SIGNALS: Table = Table { of: "#[signals]", known: &[CRATE], repeated: &[] };
/// `#[key_part(..)]`.
pub const KEY_PART: Table = Table { of: "#[key_part]", known: &[CRATE], repeated: &[] };
/// `#[rate_limit(..)]`.
pub const RATE_LIMIT: Table = Table {
    of: "#[rate_limit]",
    known: &[
        ("allowed", "`allowed = 100`"),
        ("per", "`per = \"1m\"`"),
        ("burst", "`burst = 20`"),
        SHARDS,
        KEY,
        NAME,
        CRATE,
    ],
    repeated: &[],
};
/// `#[concurrency(..)]`.
pub const CONCURRENCY: Table = Table {
    of: "#[concurrency]",
    known: &[("limit", "`limit = 8`"), SHARDS, ("held", "alone: `held`"), KEY, NAME, CRATE],
    repeated: &[],
};

/// Reads every `#[attr(..)]` of the item.
pub fn options(diag: &mut Diag, attr: &str, table: &Table, attrs: &[Attribute]) -> DeriveOptions {
    let (mut o, mut seen) = (DeriveOptions::default(), BTreeMap::new());
    for attr in attrs.iter().filter(|a| a.path().is_ident(attr)) {
        let Some(list) = diag.ok(attr.meta.require_list()) else { continue };
        for opt in split(diag, table, &mut seen, list.tokens.clone()) {
            option(diag, &mut o, &opt);
        }
    }
    o
}

fn option(diag: &mut Diag, o: &mut DeriveOptions, opt: &Opt) {
    match opt.word {
        "name" => o.name = diag.ok(opt.stored_name()),
        "alias" => o.aliases = diag.ok(opt.stored_names()).unwrap_or_default(),
        "allowed" => o.allowed = diag.ok(opt.positive()),
        "per" => o.per = diag.ok(opt.duration()).map(|at| at.value),
        "burst" => o.burst = diag.ok(opt.positive()),
        "shards" => o.shards = diag.ok(opt.positive()),
        "limit" => o.limit = diag.ok(opt.positive()),
        "held" => o.held = diag.ok(opt.flag()),
        "key" => o.key = diag.ok(opt.list()).unwrap_or_default(),
        _ => o.facade = diag.ok(opt.one()),
    }
}
