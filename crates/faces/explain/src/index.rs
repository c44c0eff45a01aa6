//! Words that users try: a setting without its group, a synonym, a term of the definitions, a command, and subjects of
//! the guide's pages.

use std::fmt::Write;

use plan::keys::all_keys;

use super::Command;

/// Pages of the documentation with their headings, and terms with their definitions. A test writes it from them.
const PAGES: &str = include_str!("pages.txt");

/// Synonyms, and the names under which `explain` knows them.
const WORDS: &[(&[&str], &[&str])] = &[
    (
        &["fan-out", "fan-in", "fanout", "fanin", "stripes"],
        &["incast", "workload.senders"],
    ),
    (&["ecn", "marking", "marks"], &["switch.ecn_threshold"]),
    (&["bandwidth", "speed", "capacity"], &["link.rate"]),
    (&["latency", "rtt", "propagation delay"], &["link.delay"]),
    (
        &["rto", "timer", "retransmission timer"],
        &["timers", "tcp.min_rto"],
    ),
    (&["iw", "iw10", "initial window"], &["tcp.initial_window"]),
    (
        &["confidence", "interval", "error bars", "random"],
        &["seeds"],
    ),
    (&["median"], &["p50"]),
    (&["tail", "percentile", "percentiles"], &["p99"]),
    (&["fct", "completion time"], &["breakdown", "fct_p99_us"]),
    (
        &["hosts", "servers"],
        &["workload.senders", "topology.kind"],
    ),
    (&["metrics", "numbers", "results"], &["results"]),
    (&["loss", "losses"], &["drops", "bottleneck.loss"]),
    (
        &["fault", "faults", "failure"],
        &["topology.faults", "flows_failed"],
    ),
    (&["message", "file size"], &["workload.size"]),
    (&["linux", "kernel"], &["tcp.profile"]),
    (&["series", "events", "perfetto"], &["trace.series"]),
    (&["decision", "first loss"], &["theatre"]),
];

/// Mechanisms that are not modelled, by their names.
const ABSENT: &[&str] = &["bbr", "hpcc", "timely", "quic", "mptcp", "homa", "ndp"];

/// The meaning of `word`, and the pages about it.
pub(super) fn explain(word: &str, commands: &[Command]) -> Option<String> {
    let mut out = String::new();
    let plain = plain(word);
    if plain.is_empty() {
        return None;
    }
    for target in targets(&plain) {
        add(&mut out, &super::named(target)?);
    }
    let keys = all_keys().iter();
    for key in keys.filter(|key| self::plain(last(key.name)) == plain) {
        add(&mut out, &super::key(key));
    }
    let mut definition = String::new();
    for (term, text) in terms().filter(|(term, _)| is_term(term, &plain)) {
        answer::paragraph(&mut definition, 0, &format!("{term}: {text}"));
    }
    add(&mut out, &definition);
    add(&mut out, &command(&plain, commands));
    add(&mut out, &flags(&plain, commands));
    if ABSENT.iter().any(|absent| self::plain(absent) == plain) {
        let mut absent = String::new();
        let line = format!(
            "{word} is not modelled. docs/concepts/model.md lists what is and what is not."
        );
        answer::paragraph(&mut absent, 0, &line);
        add(&mut out, &absent);
    }
    add(&mut out, &pages(&plain));
    (!out.is_empty()).then_some(out)
}

/// Words with an entry of their own, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let words = WORDS.iter().flat_map(|(words, _)| words.iter().copied());
    words.chain(all_keys().iter().map(|key| last(key.name)))
}

fn targets(plain: &str) -> &'static [&'static str] {
    let mut words = WORDS.iter();
    let found = words.find(|(words, _)| words.iter().any(|word| self::plain(word) == plain));
    found.map_or(&[], |(_, targets)| targets)
}

/// Adds a part behind a blank line.
fn add(out: &mut String, part: &str) {
    if !out.is_empty() && !part.is_empty() {
        out.push('\n');
    }
    out.push_str(part);
}

/// A command of the program.
fn command(plain: &str, commands: &[Command]) -> String {
    let mut named = commands.iter();
    let found = named.find(|command| self::plain(&command.name) == plain);
    found.map_or_else(String::new, |Command { name, about, .. }| {
        format!("tailwater {name}: {about}.\n`tailwater {name} --help` has its arguments.\n")
    })
}

/// Arguments of commands with this name.
fn flags(plain: &str, commands: &[Command]) -> String {
    let mut out = String::new();
    for command in commands {
        let mut flags = command.flags.iter();
        if let Some((flag, help)) = flags.find(|(flag, _)| self::plain(flag) == plain) {
            let line = format!("tailwater {} --{flag}: {help}.", command.name);
            answer::paragraph(&mut out, 0, &line);
        }
    }
    out
}

/// Pages and headings that contain all of these words; a page with this name comes first.
fn pages(plain: &str) -> String {
    let mut found: Vec<(bool, &str, &str)> = Vec::new();
    for (page, heading) in headings() {
        let heading_words = self::plain(heading);
        let has = |word: &str| heading_words.split(' ').any(|of| alike(of, word));
        if plain.split(' ').all(has) {
            found.push((heading_words != plain, page, heading));
        }
    }
    found.sort_by_key(|(differs, ..)| *differs);
    if found.is_empty() {
        return String::new();
    }
    let mut out = "In the documentation:\n".to_owned();
    for (_, page, heading) in found.iter().take(MOST_PAGES) {
        writeln!(out, "  docs/{page}: {heading}").expect("writing to a string succeeds");
    }
    out
}

/// Pages that are listed for one word.
const MOST_PAGES: usize = 8;

/// The headings of all pages with their pages.
fn headings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = PAGES.lines().filter(|line| !line.starts_with(TERM));
    lines.filter_map(|line| line.split_once('\t'))
}

/// The terms of the definitions with what they mean.
fn terms() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = PAGES.lines().filter_map(|line| line.strip_prefix(TERM));
    lines.filter_map(|line| line.split_once('\t'))
}

/// The prefix of a line about a term.
const TERM: &str = "= ";

/// Whether this is the name of a term, which may have its short form in brackets.
fn is_term(term: &str, plain: &str) -> bool {
    let (long, short) = term.split_once('(').unwrap_or((term, ""));
    [long, short].iter().any(|name| {
        let name = self::plain(name);
        !name.is_empty() && alike(&name, plain)
    })
}

/// The same word, or its plural.
fn alike(one: &str, other: &str) -> bool {
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    one == other || singular(one) == singular(other)
}

/// Lowercases the words, drops everything but letters and digits, and separates words by one space.
fn plain(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// The answer of a program with one command.
    fn explained(word: &str) -> Result<String, scenario::Problems> {
        let run = Command {
            name: "reproduce".to_owned(),
            about: "Run the figures of papers".to_owned(),
            flags: vec![("resume".to_owned(), "Go on with a folder".to_owned())],
        };
        super::super::explain(word, &[run])
    }

    #[test]
    fn words_that_users_try_are_known() {
        let tried = [
            "buffer",
            "min_rto",
            "min-rto",
            "fan-out",
            "verdict",
            "reproduced",
            "import",
            "reproduce",
            "Wireshark",
            "timeout",
            "percentiles",
            "bbr",
            "Goodput",
            "resume",
            "ECN",
            "what a goal may say",
        ];
        for word in tried {
            assert!(explained(word).is_ok(), "{word}");
        }
        assert!(explained("buffer").is_ok_and(|text| text.contains("switch.buffer = ")));
        assert!(explained("PFC").is_ok_and(|text| text.contains("switch.pfc")));
        assert!(explained("verdict").is_ok_and(|text| text.contains("not reproduced")));
        assert!(explained("fan-out").is_ok_and(|text| text.contains("workload.senders = ")));
        for word in ["", "---", "tcp.min_rtt", "xyzzy"] {
            assert!(explained(word).is_err(), "{word:?}");
        }
    }

    #[test]
    fn every_heading_and_every_definition_is_known() {
        for (page, heading) in headings() {
            let text = explained(heading).unwrap_or_else(|_| panic!("{page}: {heading}"));
            let is_other = notion_or_key(heading);
            assert!(is_other || text.contains(page), "{heading}: {text}");
        }
        for (term, meaning) in terms() {
            let name = term.split('(').next().unwrap_or(term).trim();
            let text = explained(name).unwrap_or_else(|_| panic!("{term}"));
            let begins = meaning.split(' ').next().unwrap_or(meaning);
            assert!(
                notion_or_key(name) || text.contains(begins),
                "{name}: {text}"
            );
        }
    }

    /// Whether a name has its own meaning, which takes precedence over pages.
    fn notion_or_key(name: &str) -> bool {
        super::super::named(name).is_some() || super::super::named(&name.to_lowercase()).is_some()
    }

    #[test]
    fn every_other_word_leads_to_something() {
        for (words, targets) in WORDS {
            for target in *targets {
                assert!(super::super::named(target).is_some(), "{target}");
            }
            assert!(
                words.iter().all(|word| explained(word).is_ok()),
                "{words:?}"
            );
        }
        for absent in ABSENT {
            assert!(
                explained(absent).is_ok_and(|text| text.contains("not modelled")),
                "{absent}"
            );
        }
    }

    /// The index must match the documentation; `INSTA_UPDATE=always` writes it again.
    #[test]
    fn the_index_is_that_of_the_documentation() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let docs = own.join("../../../docs");
        if !docs.is_dir() {
            // A copy of the crates alone has no documentation for comparison.
            return;
        }
        let mut expected = String::new();
        for folder in ["guide", "concepts"] {
            let files = fs::read_dir(docs.join(folder)).expect("a folder of the documentation");
            let mut files: Vec<PathBuf> =
                files.map(|file| file.expect("an entry").path()).collect();
            files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
            files.sort();
            for file in files {
                let name = file
                    .file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned();
                let text = fs::read_to_string(&file).expect("a page");
                let mut fenced = false;
                for line in text.lines() {
                    fenced ^= line.starts_with("```");
                    let heading = line.trim_start_matches('#');
                    if !fenced && line.starts_with('#') && heading.starts_with(' ') {
                        writeln!(expected, "{folder}/{name}\t{}", heading.trim())
                            .expect("a string");
                    }
                }
            }
        }
        let definitions =
            fs::read_to_string(docs.join("concepts/definitions.md")).expect("the page");
        for paragraph in definitions
            .split("\n\n")
            .filter(|text| text.starts_with("**"))
        {
            let paragraph = paragraph.trim().replace('\n', " ");
            let (term, meaning) = paragraph[2..]
                .split_once("**: ")
                .expect("a term and its meaning");
            writeln!(expected, "{TERM}{term}\t{meaning}").expect("a string");
        }
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            fs::write(own.join("src/pages.txt"), &expected).expect("the index");
        }
        assert!(
            PAGES == expected,
            "INSTA_UPDATE=always writes src/pages.txt anew"
        );
    }
}
