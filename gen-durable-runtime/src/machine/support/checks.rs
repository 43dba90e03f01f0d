//! Checks of the annotation, made by the compiler: one bound for each type that it names, and names that collide.

use crate::machine::{
    Awaitable, ConcurrencyKey, Machine, MachineInfo, NoKey, Persist, RateLimit, ScheduledCarry, Signal,
};
/// A signal or a set is awaited.
pub const fn awaitable<X: Awaitable>() {}
/// A signal stands in a list.
pub const fn signal<X: Signal>() {}
/// A machine is named.
pub const fn machine<M: Machine>() {}
/// A rate limit is named.
pub const fn rate_limit<L: RateLimit>() {}
/// A concurrency key is named.
pub const fn concurrency_key<K: ConcurrencyKey>() {}
/// A value is kept.
pub const fn persist<T: Persist>() {}
/// A schedule begins with the carry's default.
pub const fn scheduled_carry<T: ScheduledCarry>() {}
/// A limit is used without a key.
pub fn no_key<K: NoKey>() -> K::Refs<'static> {
    K::none()
}

/// Whether the machine of a `from(..)` has a lower version; what is no machine is told elsewhere.
pub const fn is_older(older: Option<&MachineInfo>, version: i32) -> bool {
    match older {
        Some(older) => older.version < version,
        None => true,
    }
}

/// Whether rows of the older machine are found: under this one's name, or an alias of it.
pub const fn accepts(info: &MachineInfo, older: Option<&MachineInfo>) -> bool {
    match older {
        Some(older) => same(info.name, older.name) || meet(info.aliases, &[older.name]),
        None => true,
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Whether signals that are awaited together are told apart by their names.
pub const fn distinct(of: &[&[&str]]) -> bool {
    let mut list = 0;
    while list < of.len() {
        let mut other = list + 1;
        while other < of.len() {
            if meet(of[list], of[other]) {
                return false;
            }
            other += 1;
        }
        list += 1;
    }
    true
}

const fn meet(a: &[&str], b: &[&str]) -> bool {
    let mut at = 0;
    while at < a.len() * b.len() {
        if same(a[at / b.len()], b[at % b.len()]) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether an awaited signal or set, one of these, is contained in a larger one, or in as large a one before it.
pub const fn covered(names: &[&str], of: &[&[&str]]) -> bool {
    let (mut at, mut before) = (0, true);
    while at < of.len() {
        let equal = of[at].len() == names.len() && contains(of[at], names);
        before = before && !equal;
        let larger = of[at].len() > names.len() || (of[at].len() == names.len() && before);
        if larger && contains(of[at], names) {
            return true;
        }
        at += 1;
    }
    false
}

const fn contains(set: &[&str], names: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        if !meet(set, &[names[at]]) {
            return false;
        }
        at += 1;
    }
    !names.is_empty()
}

/// All names of a set: `N` in all.
pub const fn concat<const N: usize>(of: &[&[&'static str]]) -> [&'static str; N] {
    let (mut all, mut at, mut list) = ([""; N], 0, 0);
    while list < of.len() {
        let mut item = 0;
        while item < of[list].len() {
            all[at] = of[list][item];
            (at, item) = (at + 1, item + 1);
        }
        list += 1;
    }
    all
}

/// How long `parts` are with `between` between them.
pub const fn filled_len(parts: &[&str], between: &str) -> usize {
    let (mut at, mut len) = (0, 0);
    while at < parts.len() {
        len += parts[at].len() + if at > 0 { between.len() } else { 0 };
        at += 1;
    }
    len
}

/// `parts` with `between` between them: `N` bytes in all.
pub const fn filled<const N: usize>(parts: &[&str], between: &str) -> [u8; N] {
    let (mut all, mut at, mut part) = ([0; N], 0, 0);
    while part < parts.len() {
        if part > 0 {
            at = put(&mut all, at, between);
        }
        at = put(&mut all, at, parts[part]);
        part += 1;
    }
    all
}

const fn put(all: &mut [u8], from: usize, text: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        all[from + at] = text.as_bytes()[at];
        at += 1;
    }
    from + at
}

/// What [`filled`] made of text is text.
pub const fn text(filled: &[u8]) -> &str {
    match std::str::from_utf8(filled) {
        Ok(text) => text,
        Err(_) => "",
    }
}
