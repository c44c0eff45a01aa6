//! `tailwater reproduce` on a small paper of the test.

use std::fs;

use crate::workspace::Workspace;

/// A paper of two figures, of which the second shows the runs of the first.
fn paper(name: &str) -> Workspace {
    let workspace = Workspace::new(name);
    fs::create_dir(workspace.path("mine")).expect("a folder for the test");
    for (file, text) in [
        (
            "paper.toml",
            "title = \"A paper of the test\"\ncitation = \"2017\"\n",
        ),
        ("fig1.toml", FIG1),
        ("fig2.toml", FIG2),
    ] {
        fs::write(workspace.path("mine").join(file), text).expect("a file for the test");
    }
    workspace
}

#[test]
fn every_claim_has_a_verdict_and_a_miss_its_cause() {
    let workspace = paper("reproduce_json");
    let answer = workspace.answer("reproduce ./mine --format json --quiet");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    let claims = answer["claims"].as_array().expect("an array of claims");
    let ids: Vec<_> = claims
        .iter()
        .map(|claim| claim["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "mine/fig1/no-drops",
            "mine/fig1/shortest-queue",
            "mine/fig2/one-group",
            "mine/fig2/later-than-rcc"
        ]
    );
    let first = &claims[0];
    assert_eq!(first["kind"], "number");
    assert_eq!(first["paper"], 0.0);
    assert_eq!(first["verdict"], "not reproduced");
    assert!(first["ours"].as_f64().unwrap() > 50.0, "{first}");
    assert!(first["interval"].is_array(), "{first}");
    assert_eq!(first["cause"], "the buffer has room for all");
    assert_eq!(first["causes"][0]["ours"], 0.0);
    // The cause is judged by the claims of both figures that show these runs.
    assert_eq!(first["causes"][0]["explained"], 1);
    assert_eq!(first["causes"][0]["broken"], 0);
    assert_eq!(first["counted"], true);
    assert_eq!(claims[3]["counted"], false);
    assert_eq!(claims[3]["own"], "the paper does not say so");
    assert_eq!(first["seeds"], 2);
    assert_eq!(first["scale"], "two seeds");
    assert_eq!(claims[1]["verdict"], "reproduced");
    assert_eq!(claims[1]["cause"], serde_json::Value::Null);
    assert!(
        workspace
            .path("results/reproduce/mine/fig1/summary.json")
            .exists()
    );
    assert!(
        workspace
            .path("results/reproduce/mine/causes/fig1/buffer/summary.json")
            .exists()
    );
    let kept = workspace.files("results/reproduce/mine/causes/fig1/buffer");
    let scenario = String::from_utf8_lossy(&kept["scenario.toml"]);
    assert!(scenario.contains("breakdown = false") && !kept.contains_key("series.parquet"));
    let pages = ["mine/fig1", "mine/causes/fig1/buffer"];
    let pages = pages.map(|run| workspace.path(&format!("results/reproduce/{run}/report.html")));
    assert_eq!(
        pages.map(|page| page.exists()),
        [true, false],
        "a cause has no report"
    );
    assert!(
        !workspace.path("results/reproduce/mine/fig2").exists(),
        "fig2 runs nothing"
    );
    let page = fs::read_to_string(workspace.path("results/reproduce/mine/report.html"));
    assert!(
        page.expect("a page of the paper")
            .contains("A paper of the test")
    );
}

#[test]
fn completion_times_are_broken_down_where_something_reads_the_parts() {
    let workspace = paper("reproduce_parts");
    let command = "reproduce ./mine --format json --quiet --causes none --seeds 1";
    workspace.answer(command);
    let scenario = || workspace.files("results/reproduce/mine/fig1")["scenario.toml"].clone();
    assert!(String::from_utf8_lossy(&scenario()).contains("breakdown = false"));
    // The figure that shows these runs reads the parts.
    let reads = r#"
[[claim]]
id = "waits-for-timers"
kind = "order"
says = "NewReno waits for timers"
where = "Fig. 2"
measure = "fct_timers_us"
highest = "newreno"
"#;
    let file = workspace.path("mine/fig2.toml");
    fs::write(file, format!("{FIG2}{reads}")).expect("a file for the test");
    let answer = workspace.answer(command);
    let now = scenario();
    let now = String::from_utf8_lossy(&now);
    assert!(!now.contains("breakdown = false"), "{now}");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["claims"][4]["verdict"], "reproduced", "{answer}");
}

#[test]
fn causes_are_tried_for_what_is_missed_or_for_all_or_not() {
    let workspace = paper("reproduce_causes");
    let tried = |which: &str| {
        let command = format!("reproduce ./mine/fig1.toml --format json --quiet --causes {which}");
        let answer: serde_json::Value = serde_json::from_str(&workspace.answer(&command)).unwrap();
        let claims = answer["claims"].as_array().expect("an array of claims");
        let counts = claims
            .iter()
            .map(|claim| claim["causes"].as_array().unwrap().len());
        counts.collect::<Vec<_>>()
    };
    assert_eq!(tried("none"), [0, 0]);
    let runs = workspace.path("results/reproduce/mine/causes");
    assert!(!runs.exists(), "no cause is run");
    assert_eq!(tried("missed"), [1, 0]);
    assert_eq!(tried("all"), [1, 1]);
}

#[test]
fn other_seeds_give_other_numbers_and_are_told_with_the_scale() {
    let workspace = paper("reproduce_seed");
    let first = |options: &str| {
        let command = format!(
            "reproduce ./mine/fig1.toml --format json --quiet --causes none --no-report {options}"
        );
        let answer: serde_json::Value = serde_json::from_str(&workspace.answer(&command)).unwrap();
        answer["claims"][0].clone()
    };
    let (own, other) = (first(""), first("--seed 1001 --out other"));
    assert_eq!(own["scale"], "two seeds");
    assert_eq!(other["scale"], "two seeds; here --seed 1001");
    assert_ne!(own["ours"], other["ours"]);
    let summary = fs::read_to_string(workspace.path("other/mine/fig1/summary.json"));
    let summary: serde_json::Value = serde_json::from_str(&summary.unwrap()).unwrap();
    assert_eq!(summary["seed"], 1001);
    // With another first seed the runs are new, in the same folder.
    assert_eq!(first("--seed 1001")["ours"], other["ours"]);
}

#[test]
fn a_cause_that_figures_share_is_weighed_against_the_claims_of_all() {
    let workspace = paper("reproduce_shared_cause");
    let write = |file: &str, text: &str| {
        fs::write(workspace.path("mine").join(file), text).expect("a file for the test");
    };
    let (figure, cause) = FIG1
        .split_once("[[cause]]")
        .expect("the figure has a cause");
    let some = "kind = \"shape\"\nshape = \"above\"\nlevel = 0\nsays = \"NewReno drops\"\n";
    let other = figure.replace("senders = 40", "senders = 41");
    let other = other.replace(
        "kind = \"number\"\nsays = \"NewReno drops nothing\"\n",
        some,
    );
    write("fig1.toml", figure);
    write("fig3.toml", &other.replace("paper = 0\n", ""));
    let cause =
        format!("[common.room]\nfigures = [\"fig1\", \"fig3\"]\n[[common.room.cause]]{cause}");
    write(
        "paper.toml",
        &format!("title = \"A paper of the test\"\ncitation = \"2017\"\n{cause}"),
    );
    let answer = workspace.answer("reproduce ./mine --format json --quiet --no-report");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    // It makes the claim of fig1 hold, and breaks that of fig3, which held before.
    let tried = &answer["claims"][0]["causes"][0];
    assert_eq!(tried["over"], serde_json::json!(["fig1", "fig3"]));
    assert_eq!(
        (&tried["explained"], &tried["broken"]),
        (&1.into(), &1.into())
    );
    assert_eq!(answer["claims"][0]["cause"], serde_json::Value::Null);
}

#[test]
fn claims_are_judged_by_every_reading_and_with_late_links() {
    let workspace = paper("reproduce_readings");
    let reading = "[reading.code]\nsays = \"the code has no limit\"\nschemes = [\"newreno\"]\n\
                   set = { \"switch.buffer\" = \"unlimited\" }\n";
    let text = FIG1.replace("[[cause]]", &format!("{reading}\n[[cause]]"));
    fs::write(workspace.path("mine/fig1.toml"), text).expect("a file for the test");
    let command = "reproduce ./mine --quiet --no-report --causes none --phase";
    let answer = workspace.answer(&format!("{command} --format json"));
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    let claims = answer["claims"].as_array().expect("an array of claims");
    for claim in claims {
        let read = &claim["readings"][0];
        assert_eq!(read["name"], "code", "{claim}");
        let late = claim["phases"].as_array().expect("an array");
        let names: Vec<_> = late
            .iter()
            .map(|late| late["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["100ns", "1us"], "{claim}");
        let changes = late.iter().any(|late| late["verdict"] != claim["verdict"]);
        assert_eq!(claim["hangs_on_order"], changes, "{claim}");
    }
    assert_eq!(claims[0]["verdict"], "not reproduced");
    assert_eq!(claims[0]["readings"][0]["verdict"], "reproduced");
    let table = workspace.answer(command);
    assert!(table.contains("by code: reproduced, 0"), "{table}");
    assert!(table.contains("by the published code"), "{table}");
    let files = ["readings/fig1/code", "phase/fig1/100ns", "phase/fig1/1us"];
    for file in files {
        let path = format!("results/reproduce/mine/{file}/summary.json");
        assert!(workspace.path(&path).exists(), "{path}");
    }
}

#[test]
fn what_is_finished_is_not_run_again() {
    let workspace = paper("reproduce_again");
    let first = workspace.answer("reproduce ./mine --no-report --quiet --out all");
    let runs = [
        "all/mine/fig1/run.json",
        "all/mine/causes/fig1/buffer/run.json",
    ];
    let infos = runs.map(|file| workspace.json(file));
    let output = workspace.output("reproduce ./mine/fig2.toml ./mine --no-report --out all");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), first);
    assert_eq!(
        runs.map(|file| workspace.json(file)),
        infos,
        "nothing was run"
    );

    let output = workspace.output("reproduce ./mine --no-report --out all --seeds 3");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("fig1 held 2 seeds: it is run anew"), "{said}");
    assert_eq!(workspace.json("all/mine/fig1/summary.json")["seeds"], 3);

    let changed = FIG1.replace("senders = 40", "senders = 41");
    fs::write(workspace.path("mine/fig1.toml"), changed).expect("a file for the test");
    let output = workspace.output("reproduce ./mine --no-report --out all --seeds 3");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("fig1 held another scenario or version"),
        "{said}"
    );
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let workspace = paper("reproduce_foreign");
    fs::create_dir_all(workspace.path("all/mine/fig1")).expect("a folder");
    fs::write(workspace.path("all/mine/fig1/thesis.tex"), "years of work").expect("a file");
    workspace.refusal("reproduce ./mine --out all");
    assert!(workspace.path("all/mine/fig1/thesis.tex").exists());
}

#[test]
fn verdicts_are_no_failure_unless_asked_for() {
    let workspace = paper("reproduce_strict");
    let table = workspace.answer("reproduce ./mine --no-report --quiet --out all");
    assert!(table.contains("not reproduced"), "{table}");
    assert!(
        table.contains("cause: the buffer has room for all"),
        "{table}"
    );
    assert!(
        table.contains(
            "mine: 3 claims: 2 reproduced, 1 not reproduced; beside them 1 check of our own"
        ),
        "{table}"
    );
    let strict = workspace.output("reproduce ./mine --no-report --quiet --out all --strict");
    assert_eq!(strict.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&strict.stdout), table);
    let lines = workspace.answer("reproduce ./mine --no-report --quiet --out all --format csv");
    assert_eq!(lines.lines().count(), 1 + 4);
}

#[test]
fn papers_and_figures_are_listed_explained_and_suggested() {
    let workspace = Workspace::new("reproduce_names");
    let list = workspace.answer("list papers");
    assert!(list.contains("rcc/fig5a"), "{list}");
    let explained = workspace.answer("explain rcc/fig5a");
    assert!(explained.contains("rcc/fig5a: "), "{explained}");
    assert!(explained.contains("Scale: "), "{explained}");
    let refusal = workspace.refusal("reproduce rcc/fig5aa");
    assert!(refusal.contains("did you mean `fig5a`?"), "{refusal}");
    let refusal = workspace.refusal("reproduce rrc");
    assert!(refusal.contains("did you mean `rcc`?"), "{refusal}");
}

#[test]
fn the_scenario_of_a_figure_is_shown_and_varied() {
    let workspace = Workspace::new("reproduce_varied");
    let shown = workspace.answer("show rcc/fig7a");
    assert!(shown.contains("senders = \"10..100:10\""), "{shown}");
    assert!(!shown.contains("[[claim]]"), "{shown}");
    let sets = "--set workload.senders=3 --seeds 1 --no-save --quiet --format json";
    let answer = workspace.answer(&format!("run rcc/fig5a --scheme rcc {sets}"));
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["scenario"], "fig5a");
}

#[test]
fn panels_of_a_reproduced_figure_are_drawn() {
    let workspace = Workspace::new("reproduce_drawn");
    let missing = workspace.refusal("plot rdtcp/fig1 --list");
    assert!(
        missing.contains("tailwater reproduce rdtcp/fig1"),
        "{missing}"
    );
    workspace.answer("reproduce rdtcp/fig1 --seeds 1 --causes none --no-report --quiet --out all");
    let list = workspace.answer("plot rdtcp/fig1 --reproduced all --list");
    let name = list.split_whitespace().next().expect("a panel");
    assert!(name.starts_with("fig1"), "{list}");
    workspace.answer(&format!(
        "plot rdtcp/fig1 --reproduced all --figure {name} -o panel.pdf"
    ));
    let pdf = fs::read(workspace.path("panel.pdf")).expect("the picture");
    assert!(pdf.starts_with(b"%PDF-"));
}

const FIG1: &str = r#"
title = "Drops"
figure = "Fig. 1"
scale = "two seeds"
seeds = 2
schemes = ["newreno", "rcc"]

[tcp]
min_rto = "10ms"

[workload]
senders = 40
jitter = "12us"

[[plot]]
kind = "bars"
lines = ["drops"]

[[claim]]
id = "no-drops"
kind = "number"
says = "NewReno drops nothing"
where = "Fig. 1"
measure = "drops"
of = "newreno"
paper = 0

[[claim]]
id = "shortest-queue"
kind = "order"
says = "RCC has the shortest queue"
where = "Fig. 1"
measure = "queue_max_bytes"
lowest = "rcc"

[[cause]]
id = "buffer"
says = "the buffer has room for all"
set = { "switch.buffer" = "unlimited" }
schemes = ["newreno"]
"#;

const FIG2: &str = r#"
title = "Completions"
figure = "Fig. 2"
scale = "two seeds"
uses = "fig1"

[[claim]]
id = "one-group"
kind = "number"
says = "RCC's flows complete in one group"
where = "Fig. 2"
measure = { flows = "completion_us", statistic = "clusters", gap = "5ms" }
of = "rcc"
paper = 1

[[claim]]
id = "later-than-rcc"
kind = "order"
says = "NewReno's last flow completes after RCC's"
where = "Fig. 2"
own = "the paper does not say so"
measure = "fct_max_us"
lowest = "rcc"
"#;
