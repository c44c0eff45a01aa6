//! The library as a user's program sees it: `examples/library` does what its page in the guide says, and the supported
//! part of the crate stays small enough to be learned.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[expect(
    unreachable_pub,
    clippy::print_stderr,
    clippy::unnecessary_box_returns,
    reason = "the library of a crate of its own"
)]
#[path = "../../../../examples/library/src/lib.rs"]
mod library;

/// Everything in one test, because a scheme is registered for the whole process.
#[test]
fn the_page_about_programs_shows_what_its_example_prints() {
    tailwater::register(library::SCHEME).expect("a correct entry");
    let page = fs::read_to_string(root().join("docs/guide/library.md")).expect("the page");
    let printed = [library::point(), library::table()];
    let printed = printed.map(|printed| printed.expect("simulations without mistakes"));
    assert!(
        printed.iter().all(|printed| page.contains(printed)),
        "the page does not show\n{}",
        printed.concat()
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
    drop(fs::remove_dir_all(&folder));
    let printed = library::folder(&folder).expect("a run without mistakes");
    assert!(page.contains(&printed), "the page does not show\n{printed}");
    // An existing run is read again.
    assert_eq!(library::folder(&folder).expect("the same run"), printed);
    fs::remove_dir_all(folder).expect("a folder that exists");
}

#[test]
fn the_example_of_a_program_needs_nothing_but_the_supported_library() {
    for file in ["src/lib.rs", "src/main.rs", "Cargo.toml"] {
        let path = root().join("examples/library").join(file);
        let text = fs::read_to_string(&path).expect("a file of the example");
        let foreign = |line: &&str| {
            let used = line.strip_prefix("use ").unwrap_or("std::");
            !["std::", "tailwater::"]
                .iter()
                .any(|own| used.starts_with(own))
        };
        assert_eq!(text.lines().find(foreign), None, "{file}");
    }
    let manifest = root().join("examples/library/Cargo.toml");
    let manifest = fs::read_to_string(manifest).expect("the manifest");
    let paths = manifest.matches("{ path = ").count();
    assert_eq!(paths, 1, "it depends on one crate:\n{manifest}");
}

#[test]
fn the_supported_library_has_few_items_and_no_crate_as_a_whole() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut items = BTreeSet::new();
    for file in ["lib.rs", "prelude.rs"] {
        let text = fs::read_to_string(source.join(file)).expect("a source of this crate");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let text = text.replace("#[doc(hidden)]\npub use", "use");
        let text = text.replace("#[doc(hidden)]\npub mod", "mod");
        for part in text.split("pub use ").skip(1) {
            let part = part.split(';').next().unwrap_or_default();
            assert!(!part.contains('*'), "{file} re-exports all of {part}");
            let (path, names) = part.rsplit_once("::").expect("an item of a crate");
            assert!(!path.is_empty(), "{file} re-exports a whole crate: {part}");
            let names = names.trim_matches(|c| c == '{' || c == '}').split(',');
            items.extend(
                names
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned),
            );
        }
        let own = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
        items.extend(own.map(|rest| rest.split(['(', '<']).next().unwrap_or(rest).to_owned()));
        let macros = text.matches("#[macro_export]").count();
        items.extend((0..macros).map(|number| format!("macro {number}")));
    }
    assert!(
        items.contains("Point") && items.contains("SenderCc"),
        "{items:?}"
    );
    assert!(items.len() <= MOST, "{} items: {items:?}", items.len());
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    root.expect("this crate lies three folders below the root")
        .to_owned()
}

/// Items that a user can learn: quinn has 114.
const MOST: usize = 120;
