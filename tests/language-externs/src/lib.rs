//! Which libraries a crate is compiled with.
//!
//! In one target directory the same library may stand several times, built with other features, and only one of them fits
//! the other libraries of a crate. Which one, the compiler was told by cargo when it compiled that crate; a macro runs
//! within the compiler, and hears it too.

use std::{env, fs};

use proc_macro::TokenStream;

/// The libraries that cargo gave to the crate that asks: `&[(name, file), ..]`.
#[proc_macro]
pub fn externs(_: TokenStream) -> TokenStream {
    let pairs: Vec<String> = libraries(&arguments()).iter().map(|pair| format!("{pair:?}")).collect();
    // As texts are written, so they are read.
    format!("&[{}]", pairs.join(", ")).parse().unwrap_or_default()
}

/// What the compiler was called with; a long list stands in a file, a line each.
fn arguments() -> Vec<String> {
    let each = |arg: String| match arg.strip_prefix('@').map(fs::read_to_string) {
        Some(Ok(text)) => text.lines().map(str::to_owned).collect(),
        Some(Err(_)) | None => vec![arg],
    };
    env::args().flat_map(each).collect()
}

/// `--extern name=file`, or `--extern options:name=file`; without a file it is a part of the compiler.
fn libraries(arguments: &[String]) -> Vec<(&str, &str)> {
    let given = arguments.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| pair[1].as_str());
    given.filter_map(|library| library.split_once('=')).map(|(name, file)| (bare(name), file)).collect()
}

fn bare(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_as_cargo_writes_them() {
        let told =
            ["rustc", "--extern", "a=/x/liba-1.rmeta", "--extern", "priv,noprelude:b=/y=/libb.so", "--extern", "test"];
        let told = told.map(str::to_owned);
        assert_eq!(libraries(&told), [("a", "/x/liba-1.rmeta"), ("b", "/y=/libb.so")]);
    }
}
