//! The page in a browser without a window.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

use claims::{Measure, PanelAxis, PanelLine, Plot};
use serde_json::Value;

use super::*;
use crate::call;
use crate::request::Panel;

/// A folder for one test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("tailwater-play-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A panel of a paper: the mean queue over the number of senders.
fn panel() -> PaperPanel {
    let axis = |key: Option<&str>, label: &str, unit: Option<&str>, end| PanelAxis {
        key: key.map(str::to_owned),
        label: Some(label.to_owned()),
        unit: unit.map(str::to_owned),
        range: Some((0.0, end)),
        ..PanelAxis::default()
    };
    let plot = Plot {
        x: axis(Some("workload.senders"), "Senders", None, 120.0),
        y: axis(None, "Queue", Some("KB"), 140.0),
        lines: vec![PanelLine {
            measure: Measure::metric("queue_mean_bytes"),
            low: None,
            high: None,
            label: String::new(),
            schemes: Vec::new(),
            at: Vec::new(),
        }],
        ..Plot::default()
    };
    let incast = Source::builtin("incast").unwrap();
    let request = PageRequest {
        name: "incast".to_owned(),
        text: incast.text().to_owned(),
        ..PageRequest::default()
    };
    let scenario = request.scenario().unwrap();
    let senders = description::distinct(scenario.points(), "workload.senders").into_iter();
    PaperPanel {
        panel: Panel {
            name: "fig1".to_owned(),
            title: "Queue".to_owned(),
            plot: plot.to_bytes(),
            schemes: vec!["dctcp".to_owned()],
        },
        run: request,
        own: true,
        swept: vec!["workload.senders".to_owned()],
        axis: Some((
            "workload.senders".to_owned(),
            senders.map(str::to_owned).collect(),
        )),
    }
}

fn of_incast() -> String {
    let opened = Opened {
        name: "incast".to_owned(),
        source: Source::builtin("incast").unwrap(),
        schemes: vec!["dctcp".to_owned()],
        sets: Vec::new(),
        seed: Some(7),
        beside: vec!["A claim (Fig. 1)".to_owned()],
        figures: vec![panel()],
    };
    page(&opened).unwrap()
}

/// Actions of the page, as a browser saw them; `None` where no Node.js is installed.
fn seen(folder: &Path, html: &str, browser: &Command) -> Option<Value> {
    let mut node = testing::tool("node")?;
    let page = folder.join("explore.html");
    fs::write(&page, html).unwrap();
    node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page.mjs"));
    node.args([folder, &page]).arg(browser.get_program());
    let output = node.args(browser.get_args()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    Some(serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}{errors}")))
}

#[test]
fn a_page_simulates_while_its_slider_moves_and_asks_nobody() {
    if let Some(chromium) = testing::chromium() {
        simulates_and_asks_nobody(&Temporary::new("chromium"), &chromium);
    }
}

#[test]
fn a_page_does_the_same_in_firefox() {
    if let Some(firefox) = testing::firefox() {
        simulates_and_asks_nobody(&Temporary::new("firefox"), &firefox);
    }
}

fn simulates_and_asks_nobody(folder: &Temporary, browser: &Command) {
    let html = of_incast();
    let Some(seen) = seen(&folder.0, &html, browser) else {
        return;
    };
    let none = |key: &str| assert_eq!(seen[key], Value::Array(Vec::new()), "{key}");
    none("wrong");
    none("requests");
    none("unlabelled");
    assert_eq!(seen["checked"], "true", "its digests are the command's");
    let text = |key: &str| seen[key].as_str().unwrap().to_owned();
    assert!(
        text("fault").contains("a whole number"),
        "{}",
        seen["fault"]
    );
    assert!(
        seen["width"].as_u64().unwrap() <= 360,
        "nothing is wider than a phone"
    );
    assert!(html.len() < MOST_BYTES, "{} bytes", html.len());
    assert_eq!(seen["burst"]["ordered"], true, "an answer is late");
    if let Some(unreached) = seen["unreached"].as_array() {
        assert!(unreached.is_empty(), "the Tab key misses {unreached:?}");
    }
    let theatre = &seen["theatre"];
    assert_eq!(theatre["still"], true, "less motion: {theatre}");
    let says = theatre["says"].as_str().unwrap_or_default();
    assert!(says.contains("dropped so far"), "{theatre}");
    assert_eq!(theatre["follows"], true, "the slowest flow: {theatre}");
    assert!(theatre["cursors"].as_u64() > Some(0), "{theatre}");
    let figure = &seen["figure"];
    assert_eq!(figure["marks"], 1, "the present value: {figure}");
    assert_eq!(figure["moved"], true, "other settings move it: {figure}");
    let drawn = figure["text"].as_str().unwrap_or_default();
    assert!(
        drawn.contains("Queue (KB)") && drawn.contains("120"),
        "{figure}"
    );
    let times = seen["slider_ms"].as_array().unwrap();
    assert_eq!(times.len(), 20, "every step of the slider was drawn");
    // The command that it shows gives the numbers that it shows.
    let again = text("again");
    let senders = again.split("workload.senders=").nth(1).unwrap();
    let senders = senders.split_whitespace().next().unwrap();
    let request = serde_json::json!({ "run": {
        "name": "incast",
        "text": Source::builtin("incast").unwrap().text(),
        "schemes": ["dctcp"],
        "sets": [["workload.senders", senders]],
        "seed": 7,
    } });
    let ours: Value = serde_json::from_str(&call(&request.to_string())).unwrap();
    assert_eq!(ours["command"], again);
    let cells = |html: &str| {
        let cells = html
            .split("</td>")
            .filter_map(|cell| cell.rsplit('>').next());
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        cells(&text("table")),
        cells(ours["table"].as_str().unwrap())
    );
    let sentence = ours["sentences"][0].as_str().unwrap();
    assert!(
        text("answer")
            .replace('\u{a0}', " ")
            .contains(&sentence.replace('\u{a0}', " "))
    );
    assert!(text("address").contains(&format!("workload.senders={senders}")));
}

#[test]
fn a_page_that_cannot_have_a_file_of_its_scenario_says_so() {
    let text = "schemes = [\"dctcp\"]\nworkload.kind = \"trace\"\nworkload.trace = \"/none.csv\"\n";
    let opened = Opened {
        name: "my.toml".to_owned(),
        source: Source::new("my.toml", text),
        schemes: Vec::new(),
        sets: Vec::new(),
        seed: None,
        beside: Vec::new(),
        figures: Vec::new(),
    };
    let told = page(&opened).unwrap_err().to_string();
    assert!(told.contains("/none.csv"), "{told}");
}

/// Bytes of a page that opens anywhere.
const MOST_BYTES: usize = 1_500_000;
