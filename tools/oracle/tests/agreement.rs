//! The page is up to date: for some scenarios, its numbers are those of the current simulator and of the kernel's
//! stored answers.

use std::path::{Path, PathBuf};

use oracle::list::OracleScenario;
use oracle::stream::ConnectionSide;
use oracle::{answer, compare, list, page};

/// Scenarios that take some seconds together, of every kind: with and without timers, a longer round trip, random loss,
/// late packets.
const SOME: [&str; 5] = [
    "incast-4x64k-reno",
    "incast-16x64k-dctcp",
    "incast-16x64k-cubic-1ms",
    "loss-1%-reno",
    "reordering-1%-cubic",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_tells_what_the_simulator_does_beside_the_stored_answers() {
    let answers = answer::read(&repository().join("tools/oracle/data/linux.csv")).unwrap();
    let told =
        std::fs::read_to_string(repository().join("docs/reference/oracle-linux.md")).unwrap();
    let is_one = |scenario: &OracleScenario| SOME.contains(&&*scenario.name);
    let scenarios: Vec<OracleScenario> = list::all().into_iter().filter(is_one).collect();
    let rows = compare(scenarios, &answers, &[]).unwrap();
    assert_eq!(rows.len(), SOME.len(), "the kernel has answered each");
    for row in &rows {
        let line = page::line(row);
        assert!(
            told.contains(&line),
            "docs/reference/oracle-linux.md does not say\n{line}if it should: cargo xtask oracle linux --stored"
        );
    }
}

#[test]
fn every_answer_is_to_a_scenario_of_the_list_and_every_scenario_has_one() {
    let answers = answer::read(&repository().join("tools/oracle/data/linux.csv")).unwrap();
    let of = |scenario: OracleScenario| (scenario.definition(), scenario.name);
    let mut names: Vec<(u64, String)> = list::all().into_iter().map(of).collect();
    names.sort_unstable_by(|one, other| one.1.cmp(&other.1));
    let answers = answers.into_iter();
    let answered: Vec<_> = answers.map(|(name, all)| (all.definition, name)).collect();
    assert_eq!(answered, names);
}

#[test]
fn every_reason_is_about_scenarios_of_the_list_and_no_scenario_has_two() {
    let text = std::fs::read_to_string(repository().join("tools/oracle/reasons.toml")).unwrap();
    let reasons: page::Reasons = toml::from_str(&text).unwrap();
    let named = reasons.reason.iter().flat_map(|reason| &reason.scenarios);
    let mut named: Vec<&String> = named.collect();
    named.sort_unstable();
    assert!(named.windows(2).all(|two| two[0] != two[1]), "{named:?}");
    let names: Vec<String> = list::all().into_iter().map(|one| one.name).collect();
    let unknown: Vec<&&String> = named.iter().filter(|name| !names.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Chapters quote the page: its totals, and goodputs.
#[test]
fn chapters_quote_the_numbers_of_the_page() {
    let read = |file: &str| std::fs::read_to_string(repository().join(file)).unwrap();
    let page = read("docs/reference/oracle-linux.md");
    let cells = |name: &str| -> Vec<String> {
        let start = format!("| {name} | ");
        let line = page.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("the page has no {name}"))
            .split(" | ")
            .map(|cell| cell.trim_end_matches(" |").to_owned())
            .collect()
    };
    let trust = read("docs/concepts/trust.md").replace('\n', " ");
    for (row, when) in [
        ("no timer expires in the kernel", "no timer expires"),
        ("a timer expires", "one expires"),
    ] {
        let [agree, differ, open] = &cells(row)[..] else {
            panic!("three totals")
        };
        let said = format!("{agree} agree, {differ} differ and {open} are open where {when}");
        assert!(trust.contains(&said), "docs/concepts/trust.md: {said}");
    }
    let table = read("docs/guide/table.md");
    for cc in ["reno", "cubic", "dctcp"] {
        let both = |suffix: &str| {
            let goodput = cells(&format!("incast-64x64k-{cc}{suffix}")).swap_remove(0);
            let (theirs, ours) = goodput.split_once("; ").unwrap_or((&goodput, &goodput));
            format!("{theirs} | {ours}")
        };
        let line = format!("| {cc} | {} | {} |", both(""), both("-rto10ms"));
        assert!(table.contains(&line), "docs/guide/table.md: {line}");
    }
}

/// Segments received and sent by some of the kernel's senders, from `cargo xtask oracle linux --streams`, cut after
/// some rounds or hundreds of segments: duplicates, lost retransmissions, timeouts, probes, marks.
#[test]
fn senders_send_what_those_of_the_kernel_sent() {
    let mut segments = 0;
    for (scenario, path) in streams(|name| !name.contains('-')) {
        let stream = ConnectionSide::read(&path).unwrap();
        let replayed = stream.replay(&scenario, &[]).unwrap();
        assert_eq!(replayed.differs, None, "{}", path.display());
        segments += replayed.segments;
        // Another TCP profile sends other segments, so the comparison can fail.
        let other = stream.replay(&scenario, &["tcp.profile=paper".to_owned()]);
        assert_ne!(other.unwrap().differs, None, "{}", path.display());
    }
    assert!(segments > 2000, "{segments} segments");
}

/// An application of the kernel waits for room in its send buffer, and the data written before ends with PSH. The files
/// of the receivers show which segments had PSH.
#[test]
fn senders_push_what_those_of_the_kernel_pushed() {
    let mut all = 0;
    for (scenario, path) in streams(|name| name.starts_with("psh-")) {
        let name = path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .replace("psh-", "");
        let sender = ConnectionSide::read(&path.with_file_name(name)).unwrap();
        let pushed = sender.pushed(&scenario, &[]).unwrap();
        let last = *pushed.last().expect("some are pushed");
        let received = ConnectionSide::read(&path).unwrap().received();
        for (end, is_pushed) in received.into_iter().filter(|(end, _)| *end <= last) {
            assert_eq!(pushed.contains(&end), is_pushed, "{} {end}", path.display());
            all += usize::from(is_pushed);
        }
        // With an unlimited buffer only writes end with PSH.
        let other = ["tcp.send_buffer=unlimited".to_owned()];
        assert!(sender.pushed(&scenario, &other).unwrap().len() < pushed.len());
    }
    assert!(all > 20, "{all} segments with PSH");
}

/// The same for receivers and their acknowledgements: quick ones, delayed ones, duplicates, delayed SACK reports,
/// echoes of marks. Some depend on when the kernel's application reads.
#[test]
fn receivers_acknowledge_nearly_as_those_of_the_kernel() {
    let mut acks = 0;
    for (scenario, path) in streams(|name| name.starts_with("rx-")) {
        let stream = ConnectionSide::read(&path).unwrap();
        // In thousandths of the acknowledgements that either side sent.
        let same = |sets: &[&str]| {
            let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
            let told = stream.acknowledge(&scenario, &sets).unwrap();
            (told.acks, 1000 * told.same / told.acks.max(told.ours))
        };
        let (count, share) = same(&[]);
        assert!(share > 930, "{}: {share}", path.display());
        acks += count;
        // Receivers without a part of it agree less.
        let others = [
            &["tcp.profile=paper", "tcp.sack=true"][..],
            &["tcp.quick_acks=0"],
        ];
        for other in others {
            assert!(same(other).1 < 920, "{}: {other:?}", path.display());
        }
    }
    assert!(acks > 500, "{acks} acknowledgements");
}

/// The committed streams of these names, with their scenarios.
fn streams(is_meant: fn(&str) -> bool) -> Vec<(OracleScenario, PathBuf)> {
    let folder = repository().join("tools/oracle/data/streams");
    let mut found = Vec::new();
    for scenario in list::all() {
        let Ok(files) = std::fs::read_dir(folder.join(&scenario.name)) else {
            continue;
        };
        for file in files {
            let file = file.expect("a listed file");
            if is_meant(&file.file_name().to_string_lossy()) {
                found.push((scenario.clone(), file.path()));
            }
        }
    }
    found
}
