//! The version changes with all code and data that simulations depend on, and with nothing else.

#[path = "../build/version.rs"]
mod version;

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

#[test]
fn the_version_carries_the_hash_of_what_simulates() {
    let hash = format!("+{:08x}", version::hash(&root()));
    assert!(sim::VERSION.ends_with(&hash), "{} {hash}", sim::VERSION);
}

#[test]
fn an_edit_of_what_simulates_changes_the_version_and_prose_does_not() {
    let copy = Copy::new();
    let before = version::hash(&copy.0);
    let text =
        |file: &str| fs::read_to_string(copy.0.join(file)).expect("a source of the repository");
    // A constant of a law, a threshold of a table, a digit of the code, a dependency, a setting of the
    // compiler, a scheme that nothing names yet.
    for (file, old, new) in [
        ("crates/core/laws/c/hscc.h", "uint32_t", "uint64_t"),
        ("crates/core/laws/build.rs", "c11", "c17"),
        ("crates/core/schemes/data/pias-thresholds.csv", "\n", "\n\n"),
        ("crates/core/tcp/src/rtt.rs", "fn ", "fn  x"),
        ("crates/simulate/sim/src/world.rs", "fn ", "fn x"),
        ("crates/simulate/plan/src/keys.rs", "fn ", "fn x"),
        ("crates/simulate/plan/graphs/esnet-links.csv", ",", ",,"),
        ("Cargo.lock", "version = ", "version =  "),
        ("Cargo.toml", "opt-level = 3", "opt-level = 2"),
    ] {
        let whole = text(file);
        assert!(whole.contains(old), "{file}");
        copy.write(file, &whole.replacen(old, new, 1));
        assert_ne!(version::hash(&copy.0), before, "{file}");
        copy.write(file, &whole);
    }
    assert_eq!(version::hash(&copy.0), before);
    let new = "crates/core/schemes/src/new.rs";
    copy.write(new, "const NEW: u8 = 1;");
    assert_ne!(version::hash(&copy.0), before, "{new}");
    fs::remove_file(copy.0.join(new)).expect("a source of the repository");

    let port = text("crates/core/fabric/src/port.rs");
    copy.write(
        "crates/core/fabric/src/port.rs",
        &format!("//! Another word.\n{port}\n// And another.\n"),
    );
    let ring = text("crates/core/engine/src/random.rs");
    assert!(
        ring.contains("#[cfg(test)]\nmod tests {"),
        "a module of tests"
    );
    let tests = ring.replacen("mod tests {", "mod tests {\n    const MORE: u8 = 1;", 1);
    copy.write("crates/core/engine/src/random.rs", &tests);
    copy.write("crates/core/fabric/src/port/tests.rs", "none");
    copy.write("crates/simulate/results/src/summary.rs", "none");
    copy.write("crates/papers/claims/src/judge.rs", "none");
    copy.write("crates/faces/cli/src/main.rs", "none");
    assert_eq!(version::hash(&copy.0), before);
}

#[test]
fn nothing_that_is_compiled_in_lies_outside() {
    let files = version::files(&root());
    let mut included = 0;
    for file in &files {
        let text = fs::read(root().join(file)).expect("a source of the repository");
        let text = String::from_utf8_lossy(&text);
        let mut names = Vec::new();
        let ending = Path::new(file).extension().unwrap_or_default();
        if ending == "rs" {
            includes(
                TokenStream::from_str(&text).expect("a source of the repository"),
                &mut names,
            );
        } else if ending == "c" || ending == "h" {
            let lines = text
                .lines()
                .filter_map(|line| line.strip_prefix("#include \""));
            names.extend(lines.map(|line| line.trim_end_matches('"').to_owned()));
        }
        for name in names {
            let path = resolve(file, &name);
            included += 1;
            // Scenarios are input and are kept in every run folder, so they need not change the version.
            let is_input = path.starts_with("crates/simulate/scenario/scenarios/");
            // Lists of clauses are only texts that are shown.
            let is_shown = path.contains("/conformance/");
            let may_be_outside = is_input || is_shown;
            assert!(
                may_be_outside || files.contains(&path),
                "{file} includes {path}"
            );
        }
    }
    assert!(included > 15, "tables and headers: {included}");
}

#[test]
fn every_crate_that_simulates_is_in_the_version_with_all_of_it() {
    let crates: Vec<&str> = version::SIMULATES
        .iter()
        .filter_map(|place| place.strip_prefix("crates/")?.strip_suffix("/src"))
        .collect();
    let groups = fs::read_dir(root().join("crates")).expect("the folder of the crates");
    let groups: Vec<PathBuf> = groups
        .map(|group| group.expect("a folder").path())
        .collect();
    for name in &crates {
        let manifest = format!("crates/{name}/Cargo.toml");
        let text = fs::read_to_string(root().join(&manifest)).expect("a source of the repository");
        let manifest: toml_edit::DocumentMut = text.parse().expect("a source of the repository");
        for (used, _) in manifest["dependencies"]
            .as_table()
            .expect("a source of the repository")
        {
            let has = |group: PathBuf| group.join(used).is_dir();
            let is_ours = groups.iter().cloned().any(has);
            let simulates = crates
                .iter()
                .any(|path| path.ends_with(&format!("/{used}")));
            assert!(!is_ours || simulates, "{name} uses {used}");
        }
        for entry in
            fs::read_dir(root().join("crates").join(name)).expect("a source of the repository")
        {
            let entry = entry.expect("a source of the repository").file_name();
            let place = format!("crates/{name}/{}", entry.to_string_lossy());
            let apart = [
                "tests",
                "benches",
                "conformance",
                "build",
                "build.rs",
                "scenarios",
                "bpf.sh",
                "proptest-regressions",
            ];
            // The build script computes the version.
            let known = version::SIMULATES.contains(&place.as_str())
                || place == "crates/simulate/sim/build.rs";
            assert!(
                known || apart.contains(&&*entry.to_string_lossy()),
                "{place}"
            );
        }
    }
    for place in version::TELLS {
        assert!(root().join(place).exists(), "{place}");
    }
}

/// The names that a Rust file includes: by `include_str!`, similar macros or `#[path]`.
fn includes(tokens: TokenStream, names: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        let after = |count: usize| tokens.get(place + count).map(ToString::to_string);
        match token {
            TokenTree::Ident(ident)
                if ident.to_string().starts_with("include") && after(1).as_deref() == Some("!") =>
            {
                let name = after(2).unwrap_or_default();
                let name = name.trim_matches(['(', ')']).trim();
                names.push(name.trim_matches('"').to_owned());
            }
            TokenTree::Ident(ident) if ident == "path" && after(1).as_deref() == Some("=") => {
                let name = after(2).unwrap_or_default();
                let name = name
                    .strip_prefix('"')
                    .and_then(|name| name.strip_suffix('"'));
                names.extend(name.map(str::to_owned));
            }
            TokenTree::Group(group) => includes(group.stream(), names),
            _ => {}
        }
    }
}

/// The path from the root of `name`, as `file` means it.
fn resolve(file: &str, name: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A copy of the files that simulations depend on, to be edited.
struct Copy(PathBuf);

impl Copy {
    fn new() -> Self {
        let copy = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join("version"));
        drop(fs::remove_dir_all(&copy.0));
        for file in version::files(&root()) {
            copy.write(
                &file,
                &fs::read_to_string(root().join(&file)).expect("a source of the repository"),
            );
        }
        copy
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("a source of the repository"))
            .expect("a source of the repository");
        fs::write(path, text).expect("a source of the repository");
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
