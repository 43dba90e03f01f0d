//! A floor of the runtime names only itself and lower floors.

use crate::rust::{self, Rust};
use crate::{Offence, Source};

pub const RUNTIME: &str = "gen-durable-runtime/src/";

/// The modules of the runtime, lowest floor first. `error` stands beside floor 1.
const FLOORS: &[(&str, u32)] = &[
    ("model", 0),
    ("error", 1),
    ("machine", 1),
    ("store", 2),
    ("engine", 3),
    ("client", 4),
    ("testing", 4),
    ("worker", 4),
    ("cli", 4),
];

/// Names that `lib.rs` lifts to the root, and the module each is from.
const LIFTED: &[(&str, &str)] = &[("Error", "error"), ("StoreClass", "error"), ("Result", "error")];

fn floor_of(module: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|&(_, floor)| floor)
}

/// The module of the runtime a file belongs to; `None` elsewhere and for `lib.rs`, which is free.
fn module_of(path: &str) -> Option<&str> {
    let module = rust::name(path.strip_prefix(RUNTIME)?);
    (module != "lib").then_some(module)
}

pub fn check(sources: &[Source]) -> Vec<Offence> {
    sources.iter().filter(|source| source.is("rs")).flat_map(check_one).collect()
}

fn check_one(source: &Source) -> Vec<Offence> {
    let Some(module) = module_of(&source.path) else { return Vec::new() };
    let Some(floor) = floor_of(module) else {
        return vec![source.offence(0, format!("the module `{module}` has no floor: give it one in {}", file!()))];
    };
    let code = Rust::read(&source.text).bare;
    let mentions = rust::words(&code, "crate::")
        .flat_map(|at| mentioned(&code[at + "crate::".len()..]).into_iter().map(move |name| (at, name)));
    mentions.filter_map(|(at, name)| Some(source.offence(at, fault(floor, module, name)?))).collect()
}

/// What stands after `crate::`: one name, or those of a group.
fn mentioned(path: &str) -> Vec<&str> {
    match path.strip_prefix('{') {
        Some(group) => group_heads(group),
        None => vec![rust::name(path)],
    }
}

/// The first name of each member: `model::{A, B}, store::C }` is `model` and `store`.
fn group_heads(group: &str) -> Vec<&str> {
    let (mut depth, mut member, mut heads) = (0, 0, Vec::new());
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b',' | b'}' if depth == 0 => {
                heads.push(rust::name(group[member..at].trim_start()));
                member = at + 1;
                if byte == b'}' {
                    break;
                }
            }
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

fn fault(floor: u32, module: &str, mentioned: &str) -> Option<String> {
    let lifted = LIFTED.iter().find(|(name, _)| *name == mentioned).map_or(mentioned, |&(_, from)| from);
    match floor_of(lifted) {
        Some(its) if its <= floor => None,
        Some(its) => Some(format!("`{module}` is floor {floor} and names `crate::{mentioned}` of floor {its}")),
        // A macro of ours, or a name lifted to the root: neither may hide a floor.
        None => Some(format!("`crate::{mentioned}` hides its floor: name it by its module")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(path: &str, text: &str) -> Vec<String> {
        check(&[Source::new(&format!("{RUNTIME}{path}"), text)]).into_iter().map(|offence| offence.what).collect()
    }

    #[test]
    fn a_higher_floor_is_not_named() {
        assert_eq!(offences("store/a.rs", "use crate::engine::X;").len(), 1);
        assert_eq!(offences("model/a.rs", "fn f() { crate::error::no() }").len(), 1);
        assert_eq!(offences("model.rs", "use crate::{Error, model::A};").len(), 1);
        assert_eq!(
            offences("engine/a/b.rs", "use crate::{\n    client::{A, B},\n    cli,\n    model::{C, D},\n};").len(),
            2
        );
        assert_eq!(offences("store/a.rs", "use crate::Engine;").len(), 1);
        assert_eq!(offences("stray.rs", "").len(), 1);
    }

    #[test]
    fn the_own_and_lower_floors_are_free() {
        let none: [String; 0] = [];
        assert_eq!(offences("engine/a.rs", "use crate::{Error, engine::X, model::{A}, store};"), none);
        assert_eq!(offences("machine/a.rs", "//! See crate::engine.\nuse crate::error::Error;"), none);
        assert_eq!(offences("lib.rs", "pub use crate::client::Client;"), none);
        assert_eq!(offences("cli/a.rs", "use crate::client::C; let s = \"crate::nothing\";"), none);
    }
}
