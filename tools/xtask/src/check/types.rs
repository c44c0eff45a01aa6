//! The name of a public type belongs to one crate, so that a reader who meets it in two crates meets the same type.
//!
//! Definitions are found line by line: `pub struct`, `pub enum`, `pub union`, `pub trait` and `pub type`. Types that a
//! crate keeps to itself (`pub(crate)`) and tests are not read. Modules of one crate may define the same name, as each
//! scheme has its `Params`.

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

/// Names that several crates may define.
struct Shared {
    names: &'static [&'static str],
    /// All crates that define each of the names, sorted.
    crates: &'static [&'static str],
    why: &'static str,
}

/// For each name the crates that define it, each with the place of its first definition.
type Definitions = BTreeMap<String, BTreeMap<String, String>>;

/// Fails for every public type name that two crates define, unless [`SHARED`] has the reason.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut definitions = Definitions::new();
    for path in repository.sources("rs")? {
        if crate_of(&path).is_some() {
            define(&path, &repository.read(&path)?, &mut definitions);
        }
    }
    failed(&[shared(&definitions, &SHARED), idle(&definitions, &SHARED)])
}

/// Adds the public types of a file.
fn define(path: &str, text: &str, definitions: &mut Definitions) {
    let Some(name) = crate_of(path).and_then(|folder| folder.rsplit('/').next()) else {
        return;
    };
    for (number, line) in (1..).zip(without_tests(text)) {
        if let Some(defined) = public(line) {
            let crates = definitions.entry(defined.to_owned()).or_default();
            let place = || format!("{path}:{number}");
            crates.entry(name.to_owned()).or_insert_with(place);
        }
    }
}

/// The name of the public type that a line begins to define.
fn public(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (kind, rest) = rest.split_once(' ')?;
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    // In a macro, `$name` stands for the name.
    (KINDS.contains(&kind) && !name.is_empty()).then_some(name)
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

impl Shared {
    fn covers(&self, name: &str, crates: &BTreeMap<String, String>) -> bool {
        self.names.contains(&name) && crates.keys().eq(self.crates)
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

    fn definitions(files: &[(&str, &str)]) -> Definitions {
        let mut found = Definitions::new();
        for (path, text) in files {
            define(path, text, &mut found);
        }
        found
    }

    #[test]
    fn a_public_name_of_two_crates_is_wrong() {
        let found = definitions(&[
            ("crates/x/a/src/one.rs", "/// One.\npub struct Segment {\n"),
            ("crates/x/a/src/two.rs", "    pub enum Segment {\n"),
            ("tools/b/src/lib.rs", "pub trait Segment: Copy {}\n"),
            ("tools/b/src/other.rs", "pub struct Segments;\n"),
        ]);
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
        let third = definitions(&files);
        assert_eq!(shared(&third, &[ROW]).len(), 1);
        assert_eq!(idle(&third, &[ROW]).len(), 1);
        files.drain(1..);
        let alone = definitions(&files);
        assert!(shared(&alone, &[ROW]).is_empty());
        assert_eq!(idle(&alone, &[ROW]).len(), 1);
    }

    #[test]
    fn names_within_a_crate_and_in_tests_are_free() {
        let found = definitions(&[
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
        assert!(shared(&found, &[]).is_empty());
    }

    #[test]
    fn no_name_of_the_workspace_lacks_a_reason() {
        let repository = Repository::find().expect("the tests run in it");
        if let Err(Failure(wrong)) = check(&repository) {
            panic!("{wrong}");
        }
    }
}
