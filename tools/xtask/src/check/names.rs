//! Only the registry names schemes: other code asks the registry's row for scheme-specific behaviour.
//!
//! Names are searched in the code of every crate: as words of strings, and as identifiers or parts of them. Comments
//! and tests may contain them.

use std::collections::BTreeSet;
use std::str::FromStr;

use proc_macro2::{LexError, TokenStream, TokenTree};

use super::sources::{crate_of, without_tests};
use super::step::failed;
use crate::repository::{Failure, Repository};

/// Where the schemes are registered.
const REGISTRY: &str = "crates/core/schemes/src/lib.rs";
/// Crates about single schemes: the schemes, the laws that a kernel also runs, the equations of papers, and test tools.
const OWNERS: [&str; 7] = [
    "schemes", "laws", "theory", "battery", "oracle", "testing", "xtask",
];
/// Names with another meaning, too: a colour, and the plain sender of the crate `tcp`.
const HOMONYMS: [&str; 2] = ["red", "NewReno"];

/// Files that may name schemes, with the reason. New entries are not allowed, and an obsolete entry fails.
const EXCEPTIONS: [(&str, &str); 9] = [
    (
        "crates/papers/claims/src/model.rs",
        "a name for each equation of `theory`",
    ),
    (
        "crates/faces/cli/src/args/emulate.rs",
        "the default of a command that shows two senders",
    ),
    (
        "crates/faces/cli/src/args/examples.rs",
        "help shows commands as one types them",
    ),
    (
        "crates/faces/cli/src/model/overlay.rs",
        "one model of `theory` has a simulation beside it",
    ),
    (
        "crates/simulate/distributions/src/table.rs",
        "sizes of flows from a paper, in a file that is called like it",
    ),
    (
        "crates/faces/explain/src/notion.rs",
        "examples show commands as one types them",
    ),
    (
        "crates/live/live/src/program/tun.rs",
        "the default of a command that shows two senders",
    ),
    (
        "crates/live/packetdrill/src/kernel.rs",
        "a switch of the kernel for one congestion control",
    ),
    (
        "crates/papers/report/src/fixed/png.rs",
        "a curve of the third degree",
    ),
];

/// Fails for every other file that names a scheme.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let names = registered(&repository.read(REGISTRY)?);
    if names.len() < 2 {
        return Err(Failure(format!("{REGISTRY} registers no schemes")));
    }
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for path in repository.sources("rs")? {
        let name = crate_of(&path).and_then(|folder| folder.rsplit('/').next());
        if name.is_none_or(|name| OWNERS.contains(&name)) {
            continue;
        }
        let found = named(&repository.read(&path)?, &names)
            .map_err(|error| Failure(format!("{path}: {error}")))?;
        if EXCEPTIONS.iter().any(|(excepted, _)| *excepted == path) {
            needed.extend((!found.is_empty()).then_some(path));
            continue;
        }
        wrong.extend(found.into_iter().map(|word| {
            format!("{path}: {word} names a scheme: ask its row in the registry (schemes::Scheme)")
        }));
    }
    let idle = EXCEPTIONS
        .iter()
        .filter(|(path, _)| !needed.contains(*path));
    let idle = idle.map(|(path, _)| format!("{path} names no scheme: take it off the exceptions"));
    failed(&[wrong, idle.collect()])
}

/// The names of all schemes: those in the braces of `schemes!`.
fn registered(registry: &str) -> BTreeSet<String> {
    let list = registry.split("\nschemes! {").nth(1).unwrap_or_default();
    let list = list.split("\n}").next().unwrap_or_default();
    let lines = list.lines().map(str::trim);
    let names = lines.filter_map(|line| line.split([',', ' ']).next());
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Each word of the code that names a scheme, once.
fn named(text: &str, names: &BTreeSet<String>) -> Result<BTreeSet<String>, LexError> {
    let code: Vec<&str> = without_tests(text).collect();
    let mut found = BTreeSet::new();
    look(TokenStream::from_str(&code.join("\n"))?, names, &mut found);
    Ok(found)
}

fn look(tokens: TokenStream, names: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    let is_name = |word: &str| names.contains(word) && !HOMONYMS.contains(&word);
    for token in tokens {
        match token {
            TokenTree::Group(group) if !is_doc(&group.stream()) => {
                look(group.stream(), names, found);
            }
            TokenTree::Ident(ident) => {
                let ident = ident.to_string();
                let mut words = words(&ident).into_iter();
                if !HOMONYMS.contains(&ident.as_str()) && words.any(|word| is_name(&word)) {
                    found.insert(ident);
                }
            }
            TokenTree::Literal(literal) => {
                let literal = literal.to_string().replace("\\n", " ");
                // The text of a paper may contain the paper's name, which has capitals.
                let words = literal.split(|c: char| !c.is_alphanumeric() && c != '_');
                found.extend(
                    words
                        .filter(|word| is_name(word))
                        .map(|word| format!("{word:?}")),
                );
            }
            TokenTree::Group(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Whether these are the tokens of a doc comment, which is an attribute.
fn is_doc(tokens: &TokenStream) -> bool {
    let first = tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Ident(word)) if word == "doc")
}

/// An identifier in lowercase, and its parts between underscores and before capitals.
fn words(ident: &str) -> Vec<String> {
    let whole = ident.to_lowercase();
    let mut parts = vec![String::new()];
    let mut last = None;
    for c in ident.chars() {
        let begins = c.is_uppercase() && last.is_some_and(char::is_lowercase);
        if c == '_' || begins {
            parts.push(String::new());
        }
        if c != '_' {
            parts
                .last_mut()
                .expect("one is there")
                .extend(c.to_lowercase());
        }
        last = Some(c);
    }
    parts.push(whole);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let registry =
            "\nschemes! {\n    newreno,\n    hscc { sender: Sender },\n    red_ecn,\n    red,\n}\n";
        let found = named(text, &registered(registry)).expect("tokens");
        found.into_iter().collect()
    }

    #[test]
    fn a_scheme_is_named_in_a_string_or_an_identifier() {
        assert_eq!(found("let a = \"hscc+cubic\";"), ["\"hscc\""]);
        assert_eq!(found("let a = \"set hscc.window\";"), ["\"hscc\""]);
        assert_eq!(found("let a = \"of\\nhscc\";"), ["\"hscc\""]);
        assert_eq!(found("use schemes::hscc;"), ["hscc"]);
        assert_eq!(found("fn f(law: HsccSettings) {}"), ["HsccSettings"]);
        assert_eq!(found("const HSCC_BYTES: u8 = 1;"), ["HSCC_BYTES"]);
        assert_eq!(found("let a = [\"red_ecn\"];"), ["\"red_ecn\""]);
        assert_eq!(
            found("macro! { #[arg(default_value = \"hscc\")] }"),
            ["\"hscc\""]
        );
    }

    #[test]
    fn no_crate_beside_the_owners_names_a_scheme_without_a_reason() {
        let repository = Repository::find().expect("the tests run in it");
        if let Err(Failure(wrong)) = check(&repository) {
            panic!("{wrong}");
        }
    }

    #[test]
    fn comments_tests_papers_and_other_words_are_free() {
        let free = [
            "// as hscc does\nfn f() {}",
            "/// As `hscc` does.\nfn f() {}",
            "//! Of hscc.\nfn f() {}",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    const A: &str = \"hscc\";\n}\n",
            "let a = \"HSCC, INFOCOM 2019\";",
            "let (red, green) = (1, 2);",
            "let a = tcp::NewReno;",
            "let hsccs = \"hsccs\";",
        ];
        for text in free {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
