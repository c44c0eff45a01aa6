//! `cargo xtask claims`: the papers' claims and our results, as a page of the reference.
//!
//! The page needs runs of all figures, which take far longer than other generated pages. So `cargo xtask docs` does not
//! write it, and CI does not regenerate it. CI only checks in `crates/faces/cli/tests/claims.rs` that the page lists
//! exactly the claims of the catalogue: a claim that is added, renamed or removed makes that test fail.

mod carried;
mod contents;
mod escape;
mod seeds;
mod shown;
mod words;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use self::escape::escape;
use self::shown::{
    BY, CAUSE, COLUMNS, ELSEWHERE, FILE, HEAD, MISSED, ORDER, OURS, OWN, PHASE, Shown, TRIED,
    VERSION, WEAKER, counts, figures, misses, on_order,
};
use self::words::{list, ours, paper, text};
use crate::repository::{Failure, Repository, stdout};

/// The sources of the page.
pub(crate) struct Wanted<'a> {
    /// Files with the output of `tailwater reproduce --format json`; later ones override earlier ones. If there are
    /// any, nothing is run.
    pub(crate) from: &'a [PathBuf],
    /// Papers and figures to run otherwise; all if there are none. Runs are kept in `target/reproduce`, so that only
    /// changed figures are run again.
    pub(crate) chosen: &'a [String],
    /// Whether claims are also judged with random lateness of links.
    pub(crate) phase: bool,
    /// The first of other seeds. Their verdicts are compared with the page, which is not changed.
    pub(crate) other_seeds: Option<u64>,
}

/// Writes the page. Figures that were not run keep their part of the page. Figures that were run without causes or
/// lateness keep the earlier results of these, as long as their files are unchanged. A figure whose file has changed
/// since its run is marked as stale.
pub(crate) fn write(repository: &Repository, wanted: &Wanted<'_>) -> Result<(), Failure> {
    let mut claims = Vec::new();
    for path in wanted.from {
        let text = fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
        claims.extend(with_version(&text)?);
    }
    if wanted.from.is_empty() {
        claims = with_version(&reproduce(repository, wanted)?)?;
    }
    let claims = newest(claims);
    let kept = fs::read_to_string(repository.path(PAGE)).unwrap_or_default();
    let mut kept = figures(&kept);
    if wanted.other_seeds.is_some() {
        print!("{}", seeds::compared(&claims, &kept));
        return Ok(());
    }
    let exists = |name: &str| {
        let file = repository.path(&format!("experiments/{name}.toml"));
        file.is_file()
    };
    kept.retain(|figure| exists(&figure.name));
    let digest = |figure: &str| digest_of(repository, figure);
    let beside = PageSources {
        lists: &contents_of(repository),
        digest: &digest,
    };
    repository.write(PAGE, &page(&claims, kept, &beside))?;
    println!("wrote {PAGE}");
    Ok(())
}

/// The claims in the output of `tailwater reproduce`, each with the version that judged it.
fn with_version(text: &str) -> Result<Vec<Value>, Failure> {
    let wrong = |why: &str| Failure(format!("`tailwater reproduce` printed no claims: {why}"));
    let mut results: Value =
        serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let Value::Array(mut claims) = results["claims"].take() else {
        return Err(wrong("there is no list of them"));
    };
    for claim in &mut claims {
        claim["version"] = results["version"].clone();
    }
    Ok(claims)
}

/// For claims with the same name: the last one, in the place of the first.
fn newest(claims: Vec<Value>) -> Vec<Value> {
    let mut newest: Vec<Value> = Vec::new();
    for claim in claims {
        match newest.iter_mut().find(|known| known["id"] == claim["id"]) {
            Some(known) => *known = claim,
            None => newest.push(claim),
        }
    }
    newest
}

const PAGE: &str = "docs/reference/claims.md";

/// The command's output for papers and figures; its standard error is shown to the user. Reading tables of millions of
/// flows takes most of the time if only the packet path is optimised, so it is built with the release profile of
/// distributed programs.
fn reproduce(repository: &Repository, wanted: &Wanted<'_>) -> Result<String, Failure> {
    let arguments = "run --profile dist --quiet --package tailwater --bin tailwater -- reproduce --format json --out";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut command = repository.cargo(&arguments);
    match wanted.other_seeds {
        None => command.arg(repository.path("target/reproduce")),
        Some(seed) => command
            .arg(repository.path(&format!("target/reproduce-{seed}")))
            .args(["--causes", "none", "--no-report", "--seed"])
            .arg(seed.to_string()),
    };
    if wanted.phase {
        command.arg("--phase");
    }
    command.args(wanted.chosen);
    stdout(command.stderr(std::process::Stdio::inherit()))
}

/// The digest of a figure named `PAPER/FIGURE` from its current files; `None` if the figure does not exist.
fn digest_of(repository: &Repository, name: &str) -> Option<String> {
    let (paper, figure) = name.split_once('/')?;
    figures::digest(figure, &|name| {
        let file = repository.read(&format!("experiments/{paper}/{name}.toml"));
        file.ok()
    })
}

/// The names of papers, and the text of the list of contents of each.
type Lists = [(String, String)];

/// Every paper that has a list of contents.
fn contents_of(repository: &Repository) -> Vec<(String, String)> {
    let papers = fs::read_dir(repository.path("experiments"));
    let papers = papers.into_iter().flatten().flatten();
    let mut lists: Vec<(String, String)> = papers
        .filter_map(|paper| {
            let text = fs::read_to_string(paper.path().join("contents.toml")).ok()?;
            Some((paper.file_name().to_string_lossy().into_owned(), text))
        })
        .collect();
    lists.sort();
    lists
}

/// Data of the repository for the page.
struct PageSources<'a> {
    /// The lists of contents of papers.
    lists: &'a Lists,
    /// The digest of the files of a figure.
    digest: &'a dyn Fn(&str) -> Option<String>,
}

/// The page: the number of claims by verdict for each paper, then its contents, and the claims by figure. Figures that
/// are only in `kept` are copied from it.
fn page(
    claims: &[Value],
    mut kept: Vec<Shown>,
    PageSources { lists, digest }: &PageSources<'_>,
) -> String {
    let claims: Vec<&Value> = claims.iter().collect();
    for paper in distinct(&claims, "paper_name") {
        let own = of(&claims, "paper_name", paper);
        for figure in distinct(&own, "figure") {
            let name = format!("{paper}/{figure}");
            let mut shown = Shown {
                text: figure_text(&of(&own, "figure", figure), digest(&name)),
                name,
            };
            match kept.iter_mut().find(|known| known.name == shown.name) {
                Some(known) => {
                    shown.carry(known);
                    *known = shown;
                }
                None => kept.push(shown),
            }
        }
    }
    for shown in &mut kept {
        shown.compare(digest(&shown.name).as_deref());
    }
    let mut papers: Vec<&str> = Vec::new();
    for paper in kept.iter().map(Shown::paper) {
        if !papers.contains(&paper) {
            papers.push(paper);
        }
    }
    let mut out = String::new();
    put_head(&mut out).expect("writing to a string succeeds");
    let mut sections = String::new();
    for paper in papers {
        let own = kept.iter().filter(|figure| figure.paper() == paper);
        let own: Vec<&Shown> = own.collect();
        out += &counts(paper, &own);
        sections += "\n## ";
        sections += paper;
        sections += "\n";
        sections += &misses(&own);
        sections += &on_order(&own);
        if let Some((_, text)) = lists.iter().find(|(name, _)| name == paper) {
            let shown: Vec<&str> = own.iter().map(|figure| figure.name.as_str()).collect();
            sections += &contents::table(paper, text, &shown);
        }
        for Shown { name, text } in own {
            for part in ["\n### ", name, "\n\n", text] {
                sections += part;
            }
        }
    }
    out + &sections
}

fn put_head(out: &mut String) -> std::fmt::Result {
    writeln!(out, "# Claims of the papers\n")?;
    writeln!(
        out,
        "Generated by `cargo xtask claims` from `tailwater reproduce`. What a verdict means, and how a claim is written \
         down, is said in [Claims of a paper](../guide/claims.md). Intervals are 95 % confidence intervals over the seeds.\n"
    )?;
    writeln!(
        out,
        "Verdicts are counted as reproduced / partly / not reproduced: by the text of the paper, and the same claims by its \
         published code. Claims of a weaker form, own checks, and claims that hang on the order of events are in no other \
         column; nor are stale ones, whose file has changed since they were judged.\n"
    )?;
    writeln!(out, "| {} |", COLUMNS.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(COLUMNS.len()))
}

/// The claims of a figure with their verdicts.
fn figure_text(claims: &[&Value], digest: Option<String>) -> String {
    let mut out = String::new();
    put_figure(&mut out, claims, digest).expect("writing to a string succeeds");
    out
}

fn put_figure(out: &mut String, claims: &[&Value], digest: Option<String>) -> std::fmt::Result {
    let mut headings = String::new();
    if let Some(first) = claims.first() {
        let scale = text(&first["scale"]).trim_end_matches('.');
        writeln!(out, "Scale: {}.\n", escape(scale))?;
        let file = digest.map_or_else(String::new, |digest| format!("{FILE}{digest}"));
        writeln!(out, "{VERSION}{}{file}.\n", text(&first["version"]))?;
        for read in list(&first["readings"]) {
            let (name, says, set) = (text(&read["name"]), text(&read["says"]), text(&read["set"]));
            let mut line = format!("By {name}: {says}");
            if !set.is_empty() {
                line = format!("{line} ({set})");
                headings = format!("{headings} {BY}{name} |");
            }
            writeln!(out, "{}.\n", escape(&line))?;
        }
        let phases = list(&first["phases"]).iter();
        let phases: Vec<&str> = phases.map(|late| text(&late["name"])).collect();
        if !phases.is_empty() {
            let phases = phases.join(" and ");
            writeln!(
                out,
                "{PHASE}judged with links late at random by up to {phases}, too.\n"
            )?;
        }
        if let Some(bias) = first["figure_bias"].as_str() {
            writeln!(out, "{OURS}{}.\n", escape(bias))?;
        }
    }
    writeln!(out, "{HEAD} what the paper says | paper | here |{headings}")?;
    let columns = 5 + headings.matches('|').count();
    writeln!(out, "|{}", "---|".repeat(columns))?;
    for claim in claims {
        writeln!(out, "{}", row(claim))?;
    }
    let details: Vec<String> = claims.iter().filter_map(|claim| details(claim)).collect();
    if !details.is_empty() {
        writeln!(
            out,
            "\n<details><summary>Reasons, and what was tried</summary>\n"
        )?;
        for line in details {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}

/// A line of a table.
fn row(claim: &Value) -> String {
    let mut says = format!("{} ({})", text(&claim["says"]), text(&claim["where"]));
    if let Some(reason) = claim["own"].as_str() {
        says = format!("{says}. {OWN}{reason}");
    } else if let Some(figure) = claim["counted_in"].as_str() {
        says = format!("{says}. {ELSEWHERE}{figure}");
    } else if let Some(reason) = claim["weaker"].as_str() {
        says = format!("{says}. {WEAKER}{reason}");
    } else if claim["hangs_on_order"].as_bool().unwrap_or(false) {
        let phases = list(&claim["phases"]).iter().map(|late| {
            let (name, verdict) = (text(&late["name"]), text(&late["verdict"]));
            format!("{verdict} with {name} ({})", ours(late, &claim["unit"]))
        });
        let phases: Vec<String> = phases.collect();
        says = format!("{says}. {ORDER}{}", phases.join(", "));
    }
    let mut row = format!(
        "| {} | `{}` | {} | {} | {} |",
        text(&claim["verdict"]),
        text(&claim["id"]),
        escape(&says),
        escape(&paper(claim)),
        escape(&ours(claim, &claim["unit"])),
    );
    let readings = list(&claim["readings"]).iter();
    for read in readings.filter(|read| !text(&read["set"]).is_empty()) {
        let (verdict, ours) = (text(&read["verdict"]), ours(read, &claim["unit"]));
        row = format!("{row} {verdict}: {} |", escape(&ours));
    }
    row
}

/// Why a claim does not hold or cannot be tested, and the causes that were tried; `None` for a claim that holds.
fn details(claim: &Value) -> Option<String> {
    let verdict = text(&claim["verdict"]);
    if verdict == "reproduced" {
        return None;
    }
    let mut says = vec![text(&claim["reason"]).to_owned()];
    let mut causes: &[Value] = &[];
    if MISSED.contains(&verdict) {
        causes = list(&claim["causes"]);
    }
    let explains = |cause: &&Value| cause["explains"].as_bool().unwrap_or(false);
    for cause in causes.iter().filter(explains) {
        let (supposed, set) = (text(&cause["says"]), text(&cause["set"]));
        let ours = ours(cause, &claim["unit"]);
        let effect = effect(cause);
        says.push(format!("{CAUSE}{supposed} ({set}: {ours}; {effect})"));
    }
    let others = causes.iter().filter(|cause| !explains(cause));
    let others: Vec<String> = others
        .map(|cause| {
            let (set, ours) = (text(&cause["set"]), ours(cause, &claim["unit"]));
            format!("{set} ({ours}; {})", effect(cause))
        })
        .collect();
    if !others.is_empty() {
        says.push(format!("{TRIED}{}", others.join("; ")));
    }
    Some(format!(
        "- `{}`: {}",
        text(&claim["id"]),
        escape(&says.join(". "))
    ))
}

/// The effect of a cause on claims of the paper, and the figures if there are several.
fn effect(cause: &Value) -> String {
    let (explained, broken) = (&cause["explained"], &cause["broken"]);
    let effect = format!("explains {explained}, breaks {broken}");
    match list(&cause["over"]) {
        [] | [_] => effect,
        figures => {
            let figures: Vec<&str> = figures.iter().map(text).collect();
            format!("{effect} in {}", figures.join(", "))
        }
    }
}

/// Claims whose `key` has this value.
fn of<'a>(claims: &[&'a Value], key: &str, value: &str) -> Vec<&'a Value> {
    let own = claims.iter().filter(|claim| text(&claim[key]) == value);
    own.copied().collect()
}

/// The values of `key`, in order of first appearance.
fn distinct<'a>(claims: &[&'a Value], key: &str) -> Vec<&'a str> {
    let mut values = Vec::new();
    for claim in claims {
        let value = text(&claim[key]);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOTHING: PageSources<'_> = PageSources {
        lists: &[],
        digest: &|_| None,
    };

    #[test]
    fn claims_are_counted_and_listed_with_their_causes() {
        let claim = |id: &str, verdict: &str| {
            json!({
                "id": format!("rcc/fig5a/{id}"), "paper_name": "rcc", "figure": "fig5a",
                "where": "§6.2", "says": "lower | by half", "paper": 47.5, "unit": "%",
                "ours": 38.234, "interval": [37.11, 39.4], "verdict": verdict,
                "reason": "19.5 % off", "scale": "10 seeds", "causes": [], "counted": true,
                "figure_bias": "0.8 times the paper's in the median of 2 numbers, 0.7 to 0.9; mean |ln(ours/paper)| 0.231",
                "version": "0.1.0",
            })
        };
        let mut missed = claim("missed", "not reproduced");
        missed["causes"] = json!([{
            "says": "no decay", "set": "dctcp.g = 1", "ours": 47.0, "interval": null,
            "explained": 3, "broken": 1, "explains": true, "over": ["fig5a", "fig8"],
        }, {
            "says": "no marks", "set": "tcp.ecn = false", "ours": 38.0, "interval": null,
            "explained": 0, "broken": 0, "explains": false,
        }]);
        let mut order = claim("order", "partly");
        missed["paper"] = json!([2.0, 2.5]);
        order["paper"] = json!("rcc lowest");
        order["ours"] = json!("at 9 of 10 values");
        let mut own = claim("own", "reproduced");
        own["counted"] = json!(false);
        own["own"] = json!("the paper has no CUBIC");
        let mut shared = claim("shared", "reproduced");
        shared["counted"] = json!(false);
        shared["counted_in"] = json!("rdtcp/fig3");
        let page = page(
            &[claim("held", "reproduced"), missed, order, own, shared],
            Vec::new(),
            &NOTHING,
        );
        for line in [
            "| [rcc](#rcc) | 3 | 1 / 1 / 1 | 1 / 1 / 1 | 0 | 0 / 0 / 0 | not tried | 1 | 0 | 1 | 0 | 0.1.0 |",
            "| reproduced | `rcc/fig5a/own` | lower \\| by half (§6.2). Our own check: the paper has no CUBIC | \
             47.5 % | 38.2 % (37.1 to 39.4) |",
            "| reproduced | `rcc/fig5a/shared` | lower \\| by half (§6.2). Counted in rdtcp/fig3 | 47.5 % | \
             38.2 % (37.1 to 39.4) |",
            "Ours: 0.8 times the paper's in the median of 2 numbers, 0.7 to 0.9; mean \\|ln(ours/paper)\\| 0.231.",
            "| reproduced | `rcc/fig5a/held` | lower \\| by half (§6.2) | 47.5 % | 38.2 % (37.1 to 39.4) |",
            "| not reproduced | `rcc/fig5a/missed` | lower \\| by half (§6.2) | 2 to 2.5 % | 38.2 % (37.1 to 39.4) |",
            "- `rcc/fig5a/missed`: 19.5 % off. Cause: no decay (dctcp.g = 1: 47 %; explains 3, breaks 1 in fig5a, fig8). \
             Tried and not the cause: tcp.ecn = false (38 %; explains 0, breaks 0)",
            "| partly | `rcc/fig5a/order` | lower \\| by half (§6.2) | rcc lowest | at 9 of 10 values |",
            "- `rcc/fig5a/order`: 19.5 % off",
        ] {
            assert!(page.lines().any(|own| own == line), "{line}\n{page}");
        }
        // Claims that do not hold come first, without the causes that were tried.
        let first = "| not reproduced | [`rcc/fig5a/missed`](#rccfig5a) | lower \\| by half (§6.2) | 19.5 % off. Cause: \
                     no decay (dctcp.g = 1: 47 %; explains 3, breaks 1 in fig5a, fig8) |\n\
                     | partly | [`rcc/fig5a/order`](#rccfig5a) | lower \\| by half (§6.2) | 19.5 % off |\n\n### rcc/fig5a\n";
        assert!(page.contains(first), "{page}");
    }

    /// Regenerating the page from its own figures must not change it, because not every figure is run for a test.
    #[test]
    fn the_page_is_written_as_it_would_be_from_its_own_figures() {
        let repository = Repository::find().unwrap();
        let written = repository.read(PAGE).unwrap();
        let digest = |figure: &str| digest_of(&repository, figure);
        let beside = PageSources {
            lists: &contents_of(&repository),
            digest: &digest,
        };
        assert_eq!(page(&[], figures(&written), &beside), written);
    }

    #[test]
    fn a_later_run_takes_the_place_of_an_earlier_one() {
        let run = |version: &str, ids: &[&str]| {
            let claims = ids.iter().map(
                |id| json!({ "id": id, "paper_name": "rcc", "figure": id, "verdict": "partly" }),
            );
            let claims: Vec<Value> = claims.collect();
            with_version(&json!({ "version": version, "claims": claims }).to_string()).unwrap()
        };
        let claims = newest([run("1", &["a", "b"]), run("2", &["a", "c"])].concat());
        let found = claims
            .iter()
            .map(|claim| (text(&claim["id"]), text(&claim["version"])));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [("a", "2"), ("b", "1"), ("c", "2")]
        );
        assert!(page(&claims, Vec::new(), &NOTHING).contains("| 2, 1 |"));
    }

    #[test]
    fn figures_that_were_not_run_stay_as_the_page_has_them() {
        let claim = |figure: &str, version: &str| {
            json!({
                "id": format!("{figure}/a"), "paper_name": figure.split('/').next(),
                "figure": figure.split('/').next_back(), "counted": true, "verdict": "reproduced",
                "version": version,
            })
        };
        let fresh = |claims: &[Value]| page(claims, Vec::new(), &NOTHING);
        let old = [
            claim("rcc/fig1", "1"),
            claim("rcc/fig2", "1"),
            claim("rc3/fig1", "1"),
        ];
        let kept = figures(&fresh(&old));
        assert_eq!(page(&[], kept.clone(), &NOTHING), fresh(&old));
        let anew = page(&[claim("rcc/fig2", "2")], kept, &NOTHING);
        let [first, _, last] = old;
        assert_eq!(anew, fresh(&[first, claim("rcc/fig2", "2"), last]));
        assert!(
            anew.contains("| [rcc](#rcc) | 2 | 2 / 0 / 0 | 2 / 0 / 0 | 0 | 0 / 0 / 0 | not tried | 0 | 0 | 0 | 0 | 1, 2 |"),
            "{anew}"
        );
    }

    #[test]
    fn readings_weaker_forms_and_the_order_of_events_are_shown_and_counted_apart() {
        let read = |name: &str, set: &str, verdict: &str| json!({ "name": name, "says": format!("as {name}"), "set": set, "ours": "no", "verdict": verdict });
        let claim = |id: &str| {
            json!({
                "id": format!("rcc/fig2/{id}"), "paper_name": "rcc", "figure": "fig2", "version": "1",
                "says": "it is so", "where": "§3", "paper": "yes", "ours": "yes", "verdict": "reproduced",
                "readings": [read("text", "", "reproduced"), read("code", "a = 1", "not reproduced"),
                             read("other", "b = 2", "reproduced")],
                "phases": [read("100ns", "link.jitter = 100ns", "reproduced")],
            })
        };
        let mut weaker = claim("weaker");
        weaker["weaker"] = json!("half of it");
        let mut order = claim("order");
        order["hangs_on_order"] = json!(true);
        order["phases"][0]["verdict"] = json!("partly");
        let page = page(&[claim("counted"), weaker, order], Vec::new(), &NOTHING);
        for line in [
            "| [rcc](#rcc) | 1 | 1 / 0 / 0 | 0 / 0 / 1 | 0 | 1 / 0 / 0 | 1 | 0 | 0 | 0 | 0 | 1 |",
            "By text: as text.",
            "By code: as code (a = 1).",
            "| verdict | claim | what the paper says | paper | here | by code | by other |",
            "| reproduced | `rcc/fig2/counted` | it is so (§3) | yes | yes | not reproduced: no | reproduced: no |",
            "| reproduced | `rcc/fig2/weaker` | it is so (§3). Weaker form: half of it | yes | yes | not reproduced: no | \
             reproduced: no |",
            "| reproduced | [`rcc/fig2/order`](#rccfig2) | it is so (§3). Hangs on the order of events: partly with 100ns (no) |",
        ] {
            assert!(page.lines().any(|own| own == line), "{line}\n{page}");
        }
    }

    #[test]
    fn a_figure_whose_file_has_changed_is_stale_and_in_no_other_column() {
        let claim = json!({
            "id": "rcc/fig1/a", "paper_name": "rcc", "figure": "fig1", "verdict": "not reproduced", "version": "1",
        });
        let then = PageSources {
            digest: &|_| Some("then".to_owned()),
            ..NOTHING
        };
        let now = PageSources {
            digest: &|_| Some("now".to_owned()),
            ..NOTHING
        };
        let claims = [claim];
        let written = page(&claims, Vec::new(), &then);
        assert!(written.contains("Version: 1, file then."), "{written}");
        assert_eq!(page(&[], figures(&written), &then), written);
        let stale = page(&[], figures(&written), &now);
        assert!(
            stale.contains("Stale: the file of this figure has changed"),
            "{stale}"
        );
        let counts = "| [rcc](#rcc) | 0 | 0 / 0 / 0 | 0 / 0 / 0 | 0 | 0 / 0 / 0 | not tried | 0 | 0 | 0 | 1 |  |";
        assert!(stale.contains(counts), "{stale}");
        assert!(!stale.contains("What does not hold"), "{stale}");
        // With the old files, or after another run, it is current.
        assert_eq!(page(&[], figures(&stale), &then), written);
        let again = page(&claims, figures(&stale), &now);
        assert_eq!(again, written.replace("file then", "file now"));
    }

    #[test]
    fn what_was_tried_of_a_figure_stays_as_long_as_its_files_do() {
        let claim = |version: &str| {
            json!({
                "id": "rcc/fig2/a", "paper_name": "rcc", "figure": "fig2", "verdict": "partly", "version": version,
                "says": "it is so", "where": "§3", "paper": 1, "ours": 2, "unit": "ms", "reason": "100 % off",
            })
        };
        let mut tried = claim("1");
        tried["causes"] = json!([{
            "says": "no decay", "set": "a = 1", "ours": 1.0, "explained": 3, "broken": 1, "explains": true,
        }]);
        tried["hangs_on_order"] = json!(true);
        tried["phases"] = json!([{ "name": "100ns", "ours": 1.0, "verdict": "reproduced" }]);
        let digest = |name: &'static str| move |_: &str| Some(name.to_owned());
        let (same, other) = (digest("f"), digest("g"));
        let with = |digest| PageSources { digest, ..NOTHING };
        let before = page(&[tried.clone()], Vec::new(), &with(&same));
        let after = page(&[claim("2")], figures(&before), &with(&same));
        for line in [
            "Version: 2, file f.",
            "Causes: tried with version 1.",
            "Order of events: judged with links late at random by up to 100ns, too, with version 1.",
            "| partly | `rcc/fig2/a` | it is so (§3). Hangs on the order of events: reproduced with 100ns (1 ms) | 1 ms | 2 ms |",
            "- `rcc/fig2/a`: 100 % off. Cause: no decay (a = 1: 1 ms; explains 3, breaks 1)",
        ] {
            assert!(after.lines().any(|own| own == line), "{line}\n{after}");
        }
        // After another run it is still the first version that tried them.
        let third = page(&[claim("3")], figures(&after), &with(&same));
        assert_eq!(
            third,
            after
                .replace("Version: 2", "Version: 3")
                .replace("| 2 |", "| 3 |")
        );
        // With another verdict, with other files, or after trying them again, nothing of it is left.
        let mut held = claim("2");
        held["verdict"] = json!("reproduced");
        let held = page(&[held], figures(&before), &with(&same));
        let changed = page(&[claim("2")], figures(&before), &with(&other));
        for page in [held, changed] {
            assert!(
                !page.contains("Cause: ") && !page.contains("Hangs on"),
                "{page}"
            );
        }
        tried["version"] = json!("4");
        let again = page(&[tried.clone()], figures(&before), &with(&same));
        assert_eq!(again, page(&[tried], Vec::new(), &with(&same)));
    }

    #[test]
    fn verdicts_that_change_with_other_seeds_are_counted_and_listed() {
        let claim = |id: &str, verdict: &str, ours: f64| {
            json!({
                "id": format!("rcc/fig2/{id}"), "paper_name": "rcc", "figure": "fig2", "verdict": verdict,
                "ours": ours, "unit": "ms", "version": "1",
            })
        };
        let kept = figures(&page(
            &[
                claim("a", "reproduced", 1.0),
                claim("b", "partly", 2.0),
                claim("c", "reproduced", 3.0),
                claim("d", "not testable", 3.0),
            ],
            Vec::new(),
            &NOTHING,
        ));
        let anew = [
            claim("a", "partly", 1.5),
            claim("b", "partly", 2.5),
            claim("c", "reproduced", 3.0),
            claim("d", "not testable", 9.0),
            claim("new", "partly", 9.0),
        ];
        assert_eq!(
            seeds::compared(&anew, &kept),
            "rcc/fig2/a: reproduced on the page (1 ms), partly with these seeds (1.5 ms)\n\
             1 of 3 verdicts changes, 33.3 %; among the 2 with another number, 50 %\n"
        );
    }
}
