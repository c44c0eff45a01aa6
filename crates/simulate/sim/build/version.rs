//! The hash of what simulates, which the version of the program carries.
//!
//! Results of different sources must never be mixed, and the number in `Cargo.toml` changes too rarely
//! to tell. What counts is whatever can change a number in a run folder: the code of every crate that a
//! simulation runs through, laws in C, tables, the crates they use and how they are compiled. Of Rust
//! it is the tokens, so that comments, documentation and tests may change.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Files, and folders with all that is in them, as paths from the root of the repository.
pub(crate) const SIMULATES: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "rust-toolchain.toml",
    "crates/core/base/Cargo.toml",
    "crates/core/base/src",
    "crates/simulate/distributions/Cargo.toml",
    "crates/simulate/distributions/data",
    "crates/simulate/distributions/src",
    "crates/core/engine/Cargo.toml",
    "crates/core/engine/src",
    "crates/core/fabric/Cargo.toml",
    "crates/core/fabric/src",
    "crates/core/laws/Cargo.toml",
    "crates/core/laws/build.rs",
    "crates/core/laws/c",
    "crates/core/laws/src",
    "crates/simulate/plan/Cargo.toml",
    "crates/simulate/plan/graphs",
    "crates/simulate/plan/src",
    "crates/simulate/plan/workloads",
    "crates/simulate/scenario/Cargo.toml",
    "crates/simulate/scenario/src",
    "crates/core/schemes/Cargo.toml",
    "crates/core/schemes/data",
    "crates/core/schemes/src",
    "crates/simulate/sim/Cargo.toml",
    "crates/simulate/sim/src",
    "crates/simulate/tables/Cargo.toml",
    "crates/simulate/tables/src",
    "crates/core/tcp/Cargo.toml",
    "crates/core/tcp/src",
];

/// The exceptions among these: they word the problems of a scenario.
pub(crate) const TELLS: &[&str] = &[
    "crates/simulate/scenario/src/problem.rs",
    "crates/simulate/plan/src/suggest.rs",
];

/// The hash of the repository at `root`: FNV-1a of every file with its name, in the order of names.
pub(crate) fn hash(root: &Path) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files(root) {
        let bytes = fs::read(root.join(&file)).expect("a source file can be read");
        let content = if Path::new(&file)
            .extension()
            .is_some_and(|ending| ending == "rs")
        {
            code(bytes)
        } else {
            bytes
        };
        for byte in file.bytes().chain([0]).chain(content).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    u32::try_from(hash >> 32).expect("half of the bits")
}

/// Every file that simulates, as a path from `root`, sorted.
pub(crate) fn files(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for place in SIMULATES {
        collect(root, place, &mut files);
    }
    files.sort();
    files
}

fn collect(root: &Path, place: &str, files: &mut Vec<String>) {
    let name = place.rsplit('/').next().unwrap_or(place);
    if TELLS.contains(&place) || name == "tests" || name == "tests.rs" {
        return;
    }
    let path = root.join(place);
    if !path.is_dir() {
        files.push(place.to_owned());
        return;
    }
    for entry in fs::read_dir(&path).expect("a source folder can be read") {
        let entry = entry.expect("a source folder can be listed");
        let name = entry.file_name();
        collect(root, &format!("{place}/{}", name.to_string_lossy()), files);
    }
}

/// The tokens of a Rust file without its documentation and its tests; the file as it is if it is none.
fn code(bytes: Vec<u8>) -> Vec<u8> {
    let text = std::str::from_utf8(&bytes).ok();
    let tokens = text.and_then(|text| TokenStream::from_str(text).ok());
    let Some(tokens) = tokens else { return bytes };
    let mut code = String::with_capacity(bytes.len());
    write(tokens, &mut code);
    code.into_bytes()
}

fn write(tokens: TokenStream, out: &mut String) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let [first, after @ ..] = rest {
        rest = match skipped(rest) {
            0 => after,
            count => {
                rest = &rest[count..];
                continue;
            }
        };
        match first {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write(group.stream(), out);
                out.push_str(close);
            }
            TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint => {
                out.push(punct.as_char());
                continue;
            }
            other => out.push_str(&other.to_string()),
        }
        out.push(' ');
    }
}

/// How many of the next tokens are documentation or tests: `#[doc]`, `#![doc]`, and a module with
/// `#[cfg(test)]`.
fn skipped(tokens: &[TokenTree]) -> usize {
    let is = |place: usize, text: &str| {
        let token = tokens.get(place);
        token.is_some_and(|token| token.to_string() == text)
    };
    if !is(0, "#") {
        return 0;
    }
    let at = if is(1, "!") { 2 } else { 1 };
    let Some(TokenTree::Group(attribute)) = tokens.get(at) else {
        return 0;
    };
    let first = attribute.stream().into_iter().next();
    if first.is_some_and(|first| first.to_string() == "doc") {
        return at + 1;
    }
    let text = attribute.stream().to_string().replace(' ', "");
    // The name of the module and its body, or its semicolon.
    if text == "cfg(test)" && is(at + 1, "mod") {
        return at + 4;
    }
    0
}
