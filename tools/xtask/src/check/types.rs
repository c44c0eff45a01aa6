//! A type name has one definition, so that a reader who meets it in two places meets the same type.
//!
//! The name of a public type belongs to one crate. Within a crate, every name belongs to one file, that of a private type,
//! too. Crates may repeat names that they keep to themselves: outside its crate nobody meets such a name, and a reader of
//! one crate never meets the other crate's.
//!
//! Definitions are found line by line: `struct`, `enum`, `union`, `trait` and `type` with or without `pub`. Associated
//! types and tests are not read.

use std::collections::BTreeMap;

use super::sources::{crate_of, without_tests};
use super::step::failed;
use crate::repository::{Failure, Repository};

/// Names that exactly these crates define, each with the reason. A row that no longer applies fails.
const SHARED: [Shared; 14] = [
    Shared {
        names: &[
            "AfterSynLoss",
            "IdleWindow",
            "LossDetection",
            "ReceiveWindow",
            "Recovery",
            "RtoEstimator",
            "SsthreshOf",
            "TailLossProbe",
        ],
        crates: &["plan", "tcp"],
        why: "the key of a scenario chooses the behaviour of TCP that is called like it",
    },
    Shared {
        names: &["Link", "Topology"],
        crates: &["fabric", "plan"],
        why: "the keys of a scenario, and the part of the network that they describe",
    },
    Shared {
        names: &["Host"],
        crates: &["plan", "tcp"],
        why: "the keys of a scenario, and the part of the network that they describe",
    },
    Shared {
        names: &["Scenario"],
        crates: &["api", "scenario"],
        why: "the first is the second with the means to run it",
    },
    Shared {
        names: &["Error"],
        crates: &["api", "report"],
        why: "the error of the crate's own functions, as in `std::io`",
    },
    Shared {
        names: &["Instead", "Reading"],
        crates: &["protocol", "schemes"],
        why: "what a scheme declares about a law, and its value in a line of another process",
    },
    Shared {
        names: &["Wait"],
        crates: &["import", "tables"],
        why: "a row of a trace before it is written, and after it was read",
    },
    Shared {
        names: &["Params", "Sender"],
        crates: &["schemes", "xtask"],
        why: "`xtask` writes the skeleton of a scheme",
    },
    Shared {
        names: &["Receiver"],
        crates: &["programs", "schemes"],
        why: "the receiver's part of a scheme, in the simulator and in the kernel",
    },
    Shared {
        names: &["Port"],
        crates: &["fabric", "programs"],
        why: "a port of the simulator and one of the kernel",
    },
    Shared {
        names: &["Row"],
        crates: &["fabric", "results"],
        why: "a row of a routing table, and one of a table of results",
    },
    Shared {
        names: &["Verdict"],
        crates: &["claims", "fabric"],
        why: "on a claim, and on an arriving packet; no crate speaks of both",
    },
    Shared {
        names: &["Settings"],
        crates: &["base", "protocol"],
        why: "a group of keys with their types, and the texts of keys in a line",
    },
    Shared {
        names: &["Payload"],
        crates: &["base", "machine"],
        why: "a unit of sizes, and the bytes themselves",
    },
];

/// Names that several files of a crate define, each with the reason: the module of each says which one it is. A row that
/// no longer applies fails.
const PARALLEL: [Parallel; 6] = [
    Parallel {
        names: &["Header", "Hook", "Params", "Receiver", "Router", "Sender"],
        within: "schemes",
        why: "each scheme has its own, in its module",
    },
    Parallel {
        names: &["Variant"],
        within: "schemes",
        why: "the key `variant` of two schemes chooses between the paper and a simulator",
    },
    Parallel {
        names: &["Params", "State"],
        within: "laws",
        why: "the structs `params` and `state` of each law in C",
    },
    Parallel {
        names: &["Fluid", "Parameters"],
        within: "theory",
        why: "the model of each scheme and its settings, in the module of the scheme",
    },
    Parallel {
        names: &["Page"],
        within: "report",
        why: "the template of each kind of page, in the module that writes it",
    },
    Parallel {
        names: &["Terminal"],
        within: "cli",
        why: "the terminal of each command that simulates, in the module of the command",
    },
];

/// Names that several crates may define.
struct Shared {
    names: &'static [&'static str],
    /// All crates that define each of the names, sorted.
    crates: &'static [&'static str],
    why: &'static str,
}

/// Names that several files of one crate may define.
struct Parallel {
    names: &'static [&'static str],
    /// The crate.
    within: &'static str,
    why: &'static str,
}

/// The types of the workspace.
#[derive(Default)]
struct Types {
    /// Public types with the crates that define them.
    public: Definitions,
    /// For each crate all its types with the files that define them.
    own: BTreeMap<String, Definitions>,
}

/// For each name the crates or files that define it, each with the place of its first definition.
type Definitions = BTreeMap<String, BTreeMap<String, String>>;

/// Fails for every public type name that two crates define, and for every type name that two files of a crate define,
/// unless [`SHARED`] or [`PARALLEL`] has the reason.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut types = Types::default();
    for path in repository.sources("rs")? {
        if crate_of(&path).is_some() {
            define(&path, &repository.read(&path)?, &mut types);
        }
    }
    failed(&[
        shared(&types.public, &SHARED),
        idle(&types.public, &SHARED),
        repeated(&types.own, &PARALLEL),
        unrepeated(&types.own, &PARALLEL),
    ])
}

/// Adds the types of a file.
fn define(path: &str, text: &str, types: &mut Types) {
    let Some(name) = crate_of(path).and_then(|folder| folder.rsplit('/').next()) else {
        return;
    };
    let own = types.own.entry(name.to_owned()).or_default();
    for (number, line) in (1..).zip(without_tests(text)) {
        let Some((defined, public)) = definition(line) else {
            continue;
        };
        let place = || format!("{path}:{number}");
        let files = own.entry(defined.to_owned()).or_default();
        files.entry(path.to_owned()).or_insert_with(place);
        if public {
            let crates = types.public.entry(defined.to_owned()).or_default();
            crates.entry(name.to_owned()).or_insert_with(place);
        }
    }
}

/// The name of the type that a line begins to define, and whether it is public.
fn definition(line: &str) -> Option<(&str, bool)> {
    let start = line.trim_start();
    let public = start.strip_prefix("pub ");
    let restricted = || Some(start.strip_prefix("pub(")?.split_once(") ")?.1);
    let visible = public.or_else(restricted);
    let rest = visible.unwrap_or(start);
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (kind, rest) = rest.split_once(' ')?;
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    // Associated types are within a block and have no visibility.
    let is_associated = kind == "type" && visible.is_none() && start.len() < line.len();
    // A line of a text may begin with such a keyword, too. In a macro, `$name` stands for the name.
    let is_name = name.starts_with(char::is_uppercase);
    (KINDS.contains(&kind) && is_name && !is_associated).then_some((name, public.is_some()))
}

/// Every name of two crates that has no row with exactly these crates.
fn shared(definitions: &Definitions, rows: &[Shared]) -> Vec<String> {
    let several = definitions.iter().filter(|(_, crates)| crates.len() > 1);
    let wrong = several.filter(|(name, crates)| !rows.iter().any(|row| row.covers(name, crates)));
    let line = |(name, crates): (&String, &BTreeMap<String, String>)| {
        let places: Vec<&str> = crates.values().map(String::as_str).collect();
        format!(
            "{name} is a public type of {} crates ({}): rename all but one after what they are, or give the reason in \
             tools/xtask/src/check/types.rs",
            crates.len(),
            places.join(", ")
        )
    };
    wrong.map(line).collect()
}

/// Every name of a row that other crates define now, or only one.
fn idle(definitions: &Definitions, rows: &[Shared]) -> Vec<String> {
    let applies = |row: &Shared, name: &str| {
        let crates = definitions.get(name);
        crates.is_some_and(|crates| row.covers(name, crates))
    };
    let all = rows
        .iter()
        .flat_map(|row| row.names.iter().map(move |name| (row, *name)));
    let idle = all.filter(|(row, name)| !applies(row, name));
    idle.map(|(row, name)| {
        format!(
            "{name} is no longer a public type of exactly {} ({}): correct the row in tools/xtask/src/check/types.rs",
            row.crates.join(", "),
            row.why
        )
    })
    .collect()
}

/// Every name of two files of a crate that has no row.
fn repeated(crates: &BTreeMap<String, Definitions>, rows: &[Parallel]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (within, definitions) in crates {
        let excused = |name: &str| rows.iter().any(|row| row.covers(name, within));
        let several = definitions
            .iter()
            .filter(|(name, files)| files.len() > 1 && !excused(name));
        wrong.extend(several.map(|(name, files)| {
            let places: Vec<&str> = files.values().map(String::as_str).collect();
            format!(
                "{name} is a type of {} files of {within} ({}): rename all but one after what they are, or give the \
                 reason in tools/xtask/src/check/types.rs",
                files.len(),
                places.join(", ")
            )
        }));
    }
    wrong
}

/// Every name of a row that fewer than two files of the crate define now.
fn unrepeated(crates: &BTreeMap<String, Definitions>, rows: &[Parallel]) -> Vec<String> {
    let applies = |row: &Parallel, name: &str| {
        let files = crates.get(row.within).and_then(|own| own.get(name));
        files.is_some_and(|files| files.len() > 1)
    };
    let all = rows
        .iter()
        .flat_map(|row| row.names.iter().map(move |name| (row, *name)));
    let idle = all.filter(|(row, name)| !applies(row, name));
    idle.map(|(row, name)| {
        format!(
            "{name} is no longer a type of several files of {} ({}): correct the row in tools/xtask/src/check/types.rs",
            row.within, row.why
        )
    })
    .collect()
}

impl Shared {
    fn covers(&self, name: &str, crates: &BTreeMap<String, String>) -> bool {
        self.names.contains(&name) && crates.keys().eq(self.crates)
    }
}

impl Parallel {
    fn covers(&self, name: &str, within: &str) -> bool {
        self.names.contains(&name) && self.within == within
    }
}

/// The keywords that define types.
const KINDS: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Shared = Shared {
        names: &["Segment"],
        crates: &["a", "b"],
        why: "the same on both sides",
    };

    const MODULES: Parallel = Parallel {
        names: &["Segment"],
        within: "a",
        why: "each module has its own",
    };

    fn types(files: &[(&str, &str)]) -> Types {
        let mut found = Types::default();
        for (path, text) in files {
            define(path, text, &mut found);
        }
        found
    }

    #[test]
    fn a_public_name_of_two_crates_is_wrong() {
        let found = types(&[
            ("crates/x/a/src/one.rs", "/// One.\npub struct Segment {\n"),
            ("crates/x/a/src/two.rs", "    pub enum Segment {\n"),
            ("tools/b/src/lib.rs", "pub trait Segment: Copy {}\n"),
            ("tools/b/src/other.rs", "pub struct Segments;\n"),
        ]);
        let found = found.public;
        let wrong = shared(&found, &[]);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        let places =
            "Segment is a public type of 2 crates (crates/x/a/src/one.rs:2, tools/b/src/lib.rs:1)";
        assert!(wrong[0].starts_with(places), "{wrong:?}");
        assert!(shared(&found, &[ROW]).is_empty());
        assert!(idle(&found, &[ROW]).is_empty());
    }

    #[test]
    fn a_reason_is_for_all_crates_of_its_row_and_for_no_other() {
        let mut files = vec![
            ("crates/x/a/src/lib.rs", "pub struct Segment;\n"),
            ("crates/x/b/src/lib.rs", "pub type Segment = u8;\n"),
            ("crates/x/c/src/lib.rs", "pub unsafe trait Segment {}\n"),
        ];
        let third = types(&files).public;
        assert_eq!(shared(&third, &[ROW]).len(), 1);
        assert_eq!(idle(&third, &[ROW]).len(), 1);
        files.drain(1..);
        let alone = types(&files).public;
        assert!(shared(&alone, &[ROW]).is_empty());
        assert_eq!(idle(&alone, &[ROW]).len(), 1);
    }

    #[test]
    fn names_that_a_crate_keeps_to_itself_and_names_in_tests_are_free() {
        let found = types(&[
            ("crates/x/a/src/lib.rs", "pub struct Segment;\n"),
            ("crates/x/b/src/lib.rs", "pub(crate) struct Segment;\n"),
            (
                "crates/x/c/src/lib.rs",
                "struct Segment;\n// pub struct Segment;\n",
            ),
            (
                "crates/x/d/src/lib.rs",
                "#[cfg(test)]\nmod tests {\n    pub struct Segment;\n}\n",
            ),
            ("crates/x/e/src/lib/tests.rs", "pub struct Segment;\n"),
            ("crates/x/g/src/lib.rs", "pub struct $name;\n"),
            (
                "crates/x/f/src/lib.rs",
                "pub use a::Segment;\npub struct $name;\n",
            ),
        ]);
        assert!(shared(&found.public, &[]).is_empty());
        assert!(repeated(&found.own, &[]).is_empty());
    }

    #[test]
    fn a_name_of_two_files_of_a_crate_is_wrong_and_a_private_one_too() {
        for (one, other) in [
            ("struct Segment {\n", "pub(super) enum Segment {\n"),
            ("pub struct Segment<'a> {\n", "    union Segment {\n"),
            (
                "pub(in crate::a) trait Segment {}\n",
                "type Segment = u8;\n",
            ),
        ] {
            let found = types(&[
                ("crates/x/a/src/lib.rs", one),
                ("crates/x/a/src/lib/deep.rs", other),
                ("crates/x/b/src/lib.rs", "struct Segment;\n"),
            ]);
            let wrong = repeated(&found.own, &[]);
            assert_eq!(wrong.len(), 1, "{wrong:?}");
            let places = "Segment is a type of 2 files of a (crates/x/a/src/lib.rs:1, \
                          crates/x/a/src/lib/deep.rs:1)";
            assert!(wrong[0].starts_with(places), "{wrong:?}");
            assert!(repeated(&found.own, &[MODULES]).is_empty());
            assert!(unrepeated(&found.own, &[MODULES]).is_empty());
        }
    }

    #[test]
    fn a_row_for_a_crate_whose_files_no_longer_repeat_the_name_is_wrong() {
        let found = types(&[
            (
                "crates/x/a/src/lib.rs",
                "struct Segment;\n    type Segment = u8;\n",
            ),
            (
                "crates/x/a/src/other.rs",
                "    type Segment = u8;\nstruct Segments;\n",
            ),
            ("crates/x/b/src/one.rs", "struct Segment;\n"),
            ("crates/x/b/src/two.rs", "struct Segment;\n"),
        ]);
        assert_eq!(unrepeated(&found.own, &[MODULES]).len(), 1);
        assert_eq!(repeated(&found.own, &[MODULES]).len(), 1);
    }

    #[test]
    fn no_name_of_the_workspace_lacks_a_reason() {
        let repository = Repository::find().expect("the tests run in it");
        if let Err(Failure(wrong)) = check(&repository) {
            panic!("{wrong}");
        }
    }
}
