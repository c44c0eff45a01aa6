//! Goals: judged, searched for, demanded; and runs against each other.

use crate::workspace::Workspace;

/// DCTCP beside a buffer that holds everything: the longest queue grows with the marking threshold.
const KNOWN: &str = "run known.toml --quiet";
const SCENARIO: &str = r#"
name = "known"
schemes = ["dctcp"]

[link]
rate = "10Gbps"
delay = "10us"

[switch]
buffer = "4MB"

[workload]
kind = "incast"
senders = 4
size = "2MB"
"#;

fn workspace(name: &str) -> Workspace {
    let workspace = Workspace::new(name);
    std::fs::write(workspace.path("known.toml"), SCENARIO).expect("the scenario is written");
    workspace
}

#[test]
fn a_search_finds_the_smallest_threshold_to_1_kb_in_12_points() {
    let workspace = workspace("goals-search");
    let range = "--search switch.ecn_threshold=20KB..400KB";
    let goal = "--goal queue_p95>=150KB";
    workspace.answer(&format!("{KNOWN} --out found {range} {goal}"));
    let summary = workspace.json("found/summary.json");
    let points = summary["points"].as_array().expect("points").len();
    assert!(points <= 12, "{points}");
    let rows = summary["rows"].as_array().expect("rows");
    let verdicts = summary["goals"]["rows"].as_array().expect("verdicts");
    let tried: Vec<(u32, bool)> = rows
        .iter()
        .zip(verdicts)
        .map(|(row, judged)| {
            let text = row["set"][0][1].as_str().expect("a value");
            let size = text.trim_end_matches("KB").parse().expect("kilobytes");
            (size, judged["standing"] == "met")
        })
        .collect();
    let found = tried.iter().filter(|(_, met)| *met).map(|(size, _)| *size);
    let found = found.min().expect("a threshold that meets the goal");
    assert!(tried.contains(&(found - 1, false)), "{tried:?}");
    // Every lower threshold misses and every higher one meets, so it is the smallest.
    for (size, met) in [(found - 1, false), (found, true), (found + 60, true)] {
        let sets = format!("--set switch.ecn_threshold={size}KB");
        let text = workspace.answer(&format!("{KNOWN} --no-save {sets} {goal} --format json"));
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            value["goals"]["rows"][0]["standing"] == "met",
            met,
            "{size}"
        );
    }
    // Stored simulations are not repeated, and the same threshold is found.
    let again = workspace.answer(&format!("{KNOWN} --out found --resume {range} {goal}"));
    let told = format!("The smallest switch.ecn_threshold that meets it is {found}KB");
    let again: Vec<_> = again.split_whitespace().collect();
    assert!(again.join(" ").contains(&told), "{again:?}");
}

#[test]
fn an_interrupted_search_goes_on_where_it_was() {
    let workspace = workspace("goals-resumed");
    let words = "--search switch.ecn_threshold=20KB..400KB --goal queue_p95>=150KB";
    workspace.answer(&format!("{KNOWN} --out whole {words}"));
    // A search that could not write its result has all points and no tables.
    workspace.answer(&format!("{KNOWN} --out cut {words}"));
    for name in ["summary.json", "run.json"] {
        std::fs::remove_file(workspace.path("cut").join(name)).expect("a file of the run");
    }
    workspace.answer(&format!("{KNOWN} --out cut --resume {words}"));
    assert_eq!(
        workspace.json("cut/summary.json"),
        workspace.json("whole/summary.json")
    );
    let refusal = workspace.refusal(&format!(
        "{KNOWN} --out whole --resume --search switch.ecn_threshold=20KB..300KB --goal queue_p95>=150KB"
    ));
    assert!(refusal.contains("another scenario"), "{refusal}");
}

#[test]
fn strict_fails_unless_every_row_meets_every_goal() {
    let workspace = workspace("goals-strict");
    let status = |goal: &str| {
        let words = format!("{KNOWN} --no-save --strict --goal {goal}");
        workspace.output(&words).status.code()
    };
    assert_eq!(status("p99<1s"), Some(0));
    assert_eq!(status("p99<1us"), Some(1));
    let refusal = workspace.refusal(&format!("{KNOWN} --no-save --strict"));
    assert!(refusal.contains("--strict needs a goal"), "{refusal}");
    let words = format!("{KNOWN} --no-save --strict --search switch.ecn_threshold=20KB..400KB");
    assert_eq!(
        workspace
            .output(&format!("{words} --goal p99<1s"))
            .status
            .code(),
        Some(0)
    );
    assert_eq!(
        workspace
            .output(&format!("{words} --goal p99<1us"))
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn a_finished_run_is_judged_again_by_other_goals() {
    let workspace = workspace("goals-again");
    workspace.answer(&format!("{KNOWN} --out run"));
    let again = workspace.answer(&format!("{KNOWN} --out run --resume --goal p99<1us"));
    assert!(again.contains("fct_p99 < 1us is not met"), "{again}");
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["goals"]["goals"][0]["goal"], "fct_p99 < 1us");
    let report = std::fs::read_to_string(workspace.path("run/report.html")).expect("a report");
    assert!(report.contains("fct_p99 &lt; 1us") || report.contains("fct_p99 &#60; 1us"));
    // The folder is still whole.
    workspace.answer("export run flows");
    workspace.answer(&format!("{KNOWN} --out run --resume --goal p99<1us"));
}

#[test]
fn a_run_against_another_begins_with_what_differs_and_fails_if_told_to() {
    let workspace = workspace("goals-against");
    let run = |name: &str, threshold: &str| {
        let sets = format!("--set switch.ecn_threshold={threshold} --set workload.senders=2,4");
        workspace.answer(&format!("{KNOWN} --out {name} {sets}"));
    };
    run("before", "60KB");
    run("after", "300KB");
    let text = workspace.answer("report before after -o both.html");
    assert!(text.starts_with("after against before: "), "{text}");
    let mut lines = text.lines().skip_while(|line| !line.starts_with("setting"));
    let words = |line: Option<&str>| -> Vec<String> {
        let words = line.unwrap_or_default().split_whitespace();
        words.map(str::to_owned).collect()
    };
    assert_eq!(words(lines.next()), ["setting", "before", "after"]);
    assert_eq!(
        words(lines.next()),
        ["switch.ecn_threshold", "60KB", "300KB"]
    );
    assert!(text.contains("dctcp senders=2"), "{text}");
    assert!(text.ends_with("both.html\n"), "{text}");
    let report = std::fs::read_to_string(workspace.path("both.html")).expect("a report");
    let (against, answer) = (
        report.find("after against before"),
        report.find("Each run by itself"),
    );
    assert!(against.is_some_and(|against| Some(against) < answer));
    // The terminal and the page open with the same sentence, and the picture comes before the tables.
    let first = text
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .replace('\n', " ");
    let first = first.split(". ").next().unwrap_or_default();
    let first = first.trim_end_matches('.').to_owned() + ".";
    let unbroken = report.replace('\u{a0}', " ");
    assert!(unbroken.contains(&first), "{first}");
    let (picture, table) = (report.find("<svg"), report.find("Setting that differs"));
    assert!(
        picture.is_some() && picture < table,
        "{picture:?} {table:?}"
    );

    let status = |bound: &str| {
        let mut command = workspace.command("report before after -o both.html --fail-if");
        let output = command.arg(bound).output().expect("the command runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, text) = status("queue_p95 > +5%");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("queue_p95 > +5%: in "), "{text}");
    assert_eq!(status("queue_p95 < -5%").0, Some(0));
    assert_eq!(status("queue_p95 > +9MB").0, Some(0));
    let (code, _) = status("queue_p95 > lots");
    assert_eq!(code, Some(2));
    let refusal = workspace.refusal("report before --fail-if p99>+5%");
    assert!(refusal.contains("two folders"), "{refusal}");
}
