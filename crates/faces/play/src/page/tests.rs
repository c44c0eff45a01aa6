//! The page in a browser without a window.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use serde_json::Value;

use super::*;
use crate::call;

/// A folder for one test.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        let folder = env::temp_dir().join(format!("tailwater-play-{}", process::id()));
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
const FIGURE: &str = r#"{"key": "workload.senders", "at": [], "title": "Queue", "caption": "",
    "x": {"label": "Senders", "unit": null, "range": [0, 120], "log": false},
    "y": {"label": "Queue", "unit": "KB", "range": [0, 140], "log": false},
    "size": 1000, "published": [],
    "lines": [{"metric": "queue_mean_bytes", "ends": null, "label": "", "schemes": []}]}"#;

fn of_incast() -> String {
    let opened = Opened {
        name: "incast".to_owned(),
        source: Source::builtin("incast").unwrap(),
        schemes: vec!["dctcp".to_owned()],
        sets: Vec::new(),
        seed: Some(7),
        beside: vec!["A claim (Fig. 1)".to_owned()],
        figures: vec![serde_json::from_str(FIGURE).unwrap()],
    };
    page(&opened).unwrap()
}

/// Actions of the page, as a browser saw them; `None` where no browser or no Node.js is installed.
fn seen(folder: &Path, html: &str) -> Option<Value> {
    let chromium = testing::chromium()?;
    let mut node = testing::tool("node")?;
    let page = folder.join("explore.html");
    fs::write(&page, html).unwrap();
    node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page.mjs"));
    node.args([folder, &page]).arg(chromium.get_program());
    let output = node.args(chromium.get_args()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    Some(serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}{errors}")))
}

#[test]
fn a_page_simulates_while_its_slider_moves_and_asks_nobody() {
    let folder = Temporary::new();
    let Some(seen) = seen(&folder.0, &of_incast()) else {
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
    let theatre = &seen["theatre"];
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
