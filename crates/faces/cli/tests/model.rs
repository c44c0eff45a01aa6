//! `model` through the real command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn tailwater(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tailwater"))
        .args(arguments)
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("the command runs")
}

fn answer(arguments: &[&str]) -> String {
    let output = tailwater(arguments);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaints}");
    assert_eq!(complaints, "");
    String::from_utf8(output.stdout).expect("answers are text")
}

fn json(arguments: &[&str]) -> Value {
    let text = answer(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).expect("JSON")
}

/// A file of this test.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models");
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder.join(name)
}

#[test]
fn models_are_listed_and_each_has_settings_and_figures() {
    let models = answer(&["model"]);
    let names: Vec<&str> = models
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, ["rcc", "rc3", "hscc", "rwndq"]);
    for name in names {
        let list = answer(&["model", name, "--list"]);
        assert!(list.contains(&format!("\n{name}.")), "{list}");
        assert!(list.contains("--figure:\n"), "{list}");
    }
}

#[test]
fn every_format_holds_the_same_numbers() {
    // The target of 83 packets at 20 %.
    let table = answer(&["model", "rwndq"]);
    assert!(table.contains("16.60"), "{table}");
    let whole = json(&["model", "rwndq"]);
    let mean = whole["tables"]["queue"][0]["mean"]
        .as_f64()
        .expect("a number");
    assert!((mean - 16.6).abs() < 0.01, "{mean}");
    assert_eq!(whole["settings"]["rwndq.target"], "0.2");
    let csv = answer(&["model", "rwndq", "--format", "csv"]);
    let line = csv
        .lines()
        .find(|line| line.starts_with("queue,with slow start,mean,"));
    let value = line
        .and_then(|line| line.split(',').nth(3))
        .expect("a line");
    assert_eq!(value.parse::<f64>().ok(), Some(mean));
    // Points of a figure: as many as the JSON has.
    let csv = answer(&["model", "rwndq", "--figure", "window", "--format", "csv"]);
    let lines = whole["figures"][1]["lines"].as_array().expect("lines");
    let points = lines
        .iter()
        .map(|line| line["points"].as_array().map_or(0, Vec::len));
    assert_eq!(csv.lines().count() - 1, points.sum::<usize>());
}

#[test]
fn settings_are_named_with_or_without_their_model() {
    for set in ["rwndq.target=0.1", "target=0.1", " target = 0.1"] {
        let whole = json(&["model", "rwndq", "--set", set]);
        let mean = whole["tables"]["queue"][0]["mean"]
            .as_f64()
            .expect("a number");
        assert!((mean - 8.3).abs() < 0.05, "{set}: {mean}");
    }
}

#[test]
fn every_figure_is_drawn_in_every_format() {
    for name in ["rcc", "rc3", "hscc", "rwndq"] {
        let whole = json(&["model", name]);
        for figure in whole["figures"].as_array().expect("figures") {
            let figure = figure["name"].as_str().expect("a name");
            let path = file(&format!("{name}-{figure}.svg"));
            let path = path.to_str().expect("a path of text");
            answer(&["model", name, "--figure", figure, "-o", path]);
            let svg = fs::read_to_string(path).expect("a file");
            assert!(
                svg.starts_with("<svg") && !svg.contains("NaN"),
                "{name} {figure}"
            );
        }
        let page = file(&format!("{name}.html"));
        answer(&["model", name, "-o", page.to_str().expect("a path of text")]);
        let page = fs::read_to_string(page).expect("a file");
        assert!(page.contains("id=\"chart-") && page.contains(&format!("<h1>{name}</h1>")));
        let png = file(&format!("{name}.png"));
        answer(&["model", name, "-o", png.to_str().expect("a path of text")]);
        assert!(fs::read(png).expect("a file").starts_with(b"\x89PNG"));
    }
}

#[test]
fn the_simulated_queue_is_drawn_over_the_model_and_agrees_with_it() {
    // Five long flows, 10 Gbit/s, 100 us: from 100 ms on within 10 % of 16.6 packets.
    let arguments = ["model", "rwndq", "--set", "flows=5", "--simulate"];
    let whole = json(&arguments);
    let rows = whole["tables"]["queue"].as_array().expect("rows");
    let simulated = rows.last().expect("a row");
    assert_eq!(simulated["windows begin"], "in the simulator");
    let mean = simulated["mean"].as_f64().expect("a number");
    assert!((mean / 16.6 - 1.0).abs() < 0.1, "{mean}");
    let first = &whole["figures"][0]["lines"][0];
    assert_eq!(first["label"], "simulator");
    assert!(
        first["points"]
            .as_array()
            .is_some_and(|points| points.len() >= 399)
    );
}
