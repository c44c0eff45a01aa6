//! Clauses of documents as data, and the tests that prove them.
//!
//! A clause is a sentence of an RFC, or a line or equation of a paper, that code can violate. The lists are in the
//! folders [`LISTS`]. A test names the clauses that it proves in a comment above it, a script anywhere: `// Clauses:
//! RFC5681-3.2-dupack, RFC5681-3.2-inflate`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::repository::{Failure, Repository};

/// Where the lists are: RFCs, and papers.
const LISTS: [&str; 2] = [
    "crates/core/tcp/conformance",
    "crates/core/schemes/conformance",
];

/// The clauses of a document.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct List {
    document: String,
    /// Its subject, and further documents whose clauses it contains.
    title: String,
    clause: Vec<Clause>,
}

/// A clause.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Clause {
    id: String,
    /// Its place in the document; with the document's name if it is another one.
    section: String,
    /// Its requirement, in our words.
    text: String,
    status: Status,
    /// Why it is an exception.
    reason: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Status {
    Tested,
    Exception,
}

/// A test, given by its file and its name there, or a script.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Proof {
    path: String,
    name: String,
}

/// Tests by the clause that they prove.
type Proofs = BTreeMap<String, Vec<Proof>>;

/// Fails for a clause without a test, an exception without a reason or with a test, and a test of an unknown clause.
pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let (proofs, mut wrong) = proofs(repository)?;
    wrong.extend(mistakes(&lists(repository)?, &proofs));
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("\n  {}", wrong.join("\n  "))))
}

/// The number of clauses, in one line.
pub(crate) fn summary(repository: &Repository) -> Result<String, Failure> {
    let lists = lists(repository)?;
    let (clauses, tested) = counts(lists.iter().flat_map(|list| &list.clause));
    let documents = lists.len();
    Ok(format!(
        "{clauses} clauses in {documents} lists, {tested} tested, {} exceptions",
        clauses - tested
    ))
}

/// The page of all clauses.
pub(crate) fn page(repository: &Repository) -> Result<String, Failure> {
    let (proofs, _) = proofs(repository)?;
    Ok(written(&lists(repository)?, &proofs))
}

fn lists(repository: &Repository) -> Result<Vec<List>, Failure> {
    let mut lists = Vec::new();
    let paths = repository.sources("toml")?;
    for folder in LISTS {
        for path in paths.iter().filter(|path| path.starts_with(folder)) {
            let list = toml::from_str(&repository.read(path)?);
            lists.push(list.map_err(|error| Failure(format!("{path}: {error}")))?);
        }
    }
    Ok(lists)
}

/// The clauses that tests and scripts say they prove, and errors in these comments.
fn proofs(repository: &Repository) -> Result<(Proofs, Vec<String>), Failure> {
    let mut paths = repository.sources("rs")?;
    paths.extend(repository.sources("pkt")?);
    let (mut proofs, mut wrong) = (Proofs::new(), Vec::new());
    // The examples in this crate do not count.
    for path in paths
        .iter()
        .filter(|path| !path.starts_with("tools/xtask/"))
    {
        let text = repository.read(path)?;
        let lines: Vec<&str> = text.lines().collect();
        for (place, line) in lines.iter().enumerate() {
            let Some(named) = line.trim().strip_prefix(MARK) else {
                continue;
            };
            let name = if path.strip_suffix(".pkt").is_some() {
                path.rsplit('/').next()
            } else {
                test_below(&lines[place + 1..])
            };
            let Some(name) = name else {
                wrong.push(format!("{path}:{}: no test follows {MARK:?}", place + 1));
                continue;
            };
            for id in named.split(',').map(str::trim) {
                proofs.entry(id.to_owned()).or_default().push(Proof {
                    path: path.clone(),
                    name: name.to_owned(),
                });
            }
        }
    }
    Ok((proofs, wrong))
}

/// The mark before the clauses that a test proves.
const MARK: &str = "// Clauses: ";

/// The name of the test that follows after comments and attributes only.
fn test_below<'l>(lines: &[&'l str]) -> Option<&'l str> {
    let mut is_test = false;
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(rest) = line.strip_prefix("fn ") {
            return is_test.then(|| rest.split('(').next()).flatten();
        }
        is_test |= line == "#[test]";
        if !line.starts_with("//") && !line.starts_with('#') {
            return None;
        }
    }
    None
}

fn mistakes(lists: &[List], proofs: &Proofs) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut known = BTreeMap::new();
    for (list, clause) in lists
        .iter()
        .flat_map(|list| list.clause.iter().map(move |clause| (list, clause)))
    {
        let id = &clause.id;
        if known.insert(id.as_str(), list).is_some() {
            wrong.push(format!("{id} is there twice"));
        }
        let tested = proofs.contains_key(id);
        match (clause.status, tested, &clause.reason) {
            (Status::Tested, true, None) | (Status::Exception, false, Some(_)) => {}
            (Status::Tested, false, _) => wrong.push(format!(
                "{id} is tested by nothing: name it above a test, or make it an exception with a reason"
            )),
            (Status::Tested, true, Some(_)) => {
                wrong.push(format!("{id} is tested and has a reason to be an exception"));
            }
            (Status::Exception, true, _) => {
                wrong.push(format!("{id} is an exception and has a test"));
            }
            (Status::Exception, false, None) => {
                wrong.push(format!("{id} is an exception without a reason"));
            }
        }
    }
    for (id, proofs) in proofs {
        if !known.contains_key(id.as_str()) {
            let proof = &proofs[0];
            wrong.push(format!(
                "{}: {} names {id}, which no list has",
                proof.path, proof.name
            ));
        }
    }
    wrong
}

/// The number of clauses, and how many of them are tested.
fn counts<'c>(clauses: impl Iterator<Item = &'c Clause>) -> (usize, usize) {
    clauses.fold((0, 0), |(all, tested), clause| {
        (
            all + 1,
            tested + usize::from(clause.status == Status::Tested),
        )
    })
}

fn written(lists: &[List], proofs: &Proofs) -> String {
    let mut text = HEAD.to_owned();
    let (mut all, mut all_tested) = (0, 0);
    for list in lists {
        let (clauses, tested) = counts(list.clause.iter());
        (all, all_tested) = (all + clauses, all_tested + tested);
        text += &["| ", &list.document, " | ", &list.title, " | "].concat();
        text += &[&clauses.to_string(), " | ", &tested.to_string(), " |\n"].concat();
    }
    text += &["| all | | ", &all.to_string(), " | "].concat();
    text += &[&all_tested.to_string(), " |\n"].concat();
    for list in lists {
        text += &["\n## ", &list.document, "\n\n", COLUMNS].concat();
        for clause in &list.clause {
            let proved = match (&clause.reason, proofs.get(&clause.id)) {
                (Some(reason), _) => ["Exception: ", reason].concat(),
                (None, proofs) => told(proofs.map_or(&[], Vec::as_slice)),
            };
            let cells = [
                clause.id.as_str(),
                " (",
                &clause.section,
                ") | ",
                &clause.text,
                " | ",
                &proved,
            ];
            text += &["| ", &cells.concat(), " |\n"].concat();
        }
    }
    text
}

/// Tests in the notation of a table cell.
fn told(proofs: &[Proof]) -> String {
    let one = |proof: &Proof| {
        let file = proof.path.strip_prefix("crates/").unwrap_or(&proof.path);
        if file.ends_with(&proof.name) {
            format!("`{file}`")
        } else {
            format!("`{}` in `{file}`", proof.name)
        }
    };
    proofs.iter().map(one).collect::<Vec<_>>().join("<br>")
}

const COLUMNS: &str = "| clause | what it asks for | proved by |\n|---|---|---|\n";

const HEAD: &str = "\
# Clauses and their tests

Generated by `cargo xtask docs`. A clause is a sentence of a document that code can violate, or a numbered line or
equation of a paper. The lists are data (`crates/core/tcp/conformance`, `crates/core/schemes/conformance`); a test or a script
names the clauses that it proves, and `cargo xtask cites` fails for a clause without a test or a reason, and for a
test that names an unknown clause. Paths are from `crates`.

| document | about | clauses | tested |
|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    fn list(status: &str) -> Vec<List> {
        let text = format!(
            "document = \"RFC 1\"\ntitle = \"One\"\n[[clause]]\nid = \"RFC1-1-a\"\nsection = \"1\"\n\
             text = \"A.\"\n{status}\n"
        );
        vec![toml::from_str(&text).unwrap()]
    }

    fn proved(id: &str) -> Proofs {
        let proof = Proof {
            path: "crates/a/tests/b.rs".to_owned(),
            name: "it_holds".to_owned(),
        };
        Proofs::from([(id.to_owned(), vec![proof])])
    }

    #[test]
    fn clauses_and_tests_have_each_other() {
        let tested = list("status = \"tested\"");
        assert_eq!(mistakes(&tested, &proved("RFC1-1-a")), [""; 0]);
        assert_eq!(
            mistakes(&tested, &proved("RFC1-1-b")),
            [
                "RFC1-1-a is tested by nothing: name it above a test, or make it an exception with a reason",
                "crates/a/tests/b.rs: it_holds names RFC1-1-b, which no list has"
            ]
        );
        let excepted = list("status = \"exception\"\nreason = \"None.\"");
        assert_eq!(mistakes(&excepted, &Proofs::new()), [""; 0]);
        assert_eq!(
            mistakes(&excepted, &proved("RFC1-1-a")),
            ["RFC1-1-a is an exception and has a test"]
        );
        assert_eq!(
            mistakes(&list("status = \"exception\""), &Proofs::new()),
            ["RFC1-1-a is an exception without a reason"]
        );
        let twice = [tested, list("status = \"tested\"")].into_iter().flatten();
        let twice: Vec<List> = twice.collect();
        assert_eq!(
            mistakes(&twice, &proved("RFC1-1-a")),
            ["RFC1-1-a is there twice"]
        );
    }

    #[test]
    fn a_test_follows_its_clauses_behind_comments_and_attributes() {
        let lines = ["// Why.", "#[test]", "fn it_holds() {"];
        assert_eq!(test_below(&lines), Some("it_holds"));
        assert_eq!(test_below(&lines[2..]), None);
        assert_eq!(test_below(&["", "#[test]", "fn it_holds() {"]), None);
    }

    #[test]
    fn the_page_counts_clauses_and_names_their_tests() {
        let page = written(&list("status = \"tested\""), &proved("RFC1-1-a"));
        assert!(page.contains("| RFC 1 | One | 1 | 1 |\n| all | | 1 | 1 |\n"));
        assert!(page.ends_with("| RFC1-1-a (1) | A. | `it_holds` in `a/tests/b.rs` |\n"));
        let page = written(
            &list("status = \"exception\"\nreason = \"None.\""),
            &Proofs::new(),
        );
        assert!(page.ends_with("| A. | Exception: None. |\n"));
    }
}
