//! A real Prometheus reads what an observer serves, and every query of the dashboard finds its series there.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::bed::{Bed, PORT, SWITCH};
use crate::observe::{asked, watching};

#[test]
fn every_panel_of_the_dashboard_shows_what_prometheus_has_read() {
    let Some(bed) = Bed::new() else { return };
    let tools = (testing::tool("promtool"), testing::tool("prometheus"));
    let (Some(mut promtool), Some(prometheus)) = tools else {
        return;
    };
    let served = free_address();
    let mut observer = watching(PORT, &bed.namespace(SWITCH), &["--metrics", &served]);
    let text = asked(&served);
    let (_, metrics) = text.split_once("\r\n\r\n").expect("a body");
    assert_eq!(checked(&mut promtool, metrics), (true, String::new()));

    let folder = std::env::temp_dir().join(bed.namespace("prometheus"));
    fs::create_dir_all(&folder).expect("a folder");
    let asks = free_address();
    let mut server = serving(prometheus, &folder, (&served, &asks));
    for _ in 0..5 {
        bed.transfer(20, 20_000);
    }
    let queries = queries();
    assert!(queries.len() > 10, "{queries:?}");
    let mut empty = Vec::new();
    for _ in 0..60 {
        thread::sleep(Duration::from_millis(500));
        let has_none = |query: &&String| !finds(&asks, query);
        empty = queries.iter().filter(has_none).cloned().collect();
        if empty.is_empty() {
            break;
        }
    }
    server.kill().expect("it is killed");
    server.wait().expect("it ends");
    observer.child.kill().expect("it is killed");
    observer.child.wait().expect("it ends");
    fs::remove_dir_all(folder).expect("the folder goes");
    assert_eq!(empty, [""; 0], "these find no series");
    bed.holds_nothing();
}

/// Whether `promtool` accepts metrics, and its remarks.
fn checked(promtool: &mut Command, metrics: &str) -> (bool, String) {
    let check = promtool
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut check = check.expect("it starts");
    let mut input = check.stdin.take().expect("its input");
    input.write_all(metrics.as_bytes()).expect("it reads");
    drop(input);
    let output = check.wait_with_output().expect("it ends");
    let remarks = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&remarks).into_owned(),
    )
}

/// A server that reads one address every second, and answers at another.
fn serving(mut prometheus: Command, folder: &Path, (served, asks): (&str, &str)) -> Child {
    let settings = format!(
        "global: {{scrape_interval: 1s}}\nscrape_configs: [{{job_name: tailwater, static_configs: [{{targets: ['{served}']}}]}}]\n"
    );
    let file = folder.join("prometheus.yml");
    fs::write(&file, settings).expect("the file is written");
    let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
    let server = prometheus
        .arg(flag("config.file", &file))
        .arg(flag("storage.tsdb.path", &folder.join("data")))
        .arg(format!("--web.listen-address={asks}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    server.expect("it starts")
}

/// Whether a query has at least one series for an answer.
fn finds(asks: &str, query: &str) -> bool {
    let output = Command::new("promtool")
        .args(["query", "--format=json", "instant"])
        .args([&format!("http://{asks}"), query])
        .output();
    let output = output.expect("it was found before");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer.as_array().is_some_and(|series| !series.is_empty())
}

/// The queries of all panels, as Grafana asks them for all machines and devices.
fn queries() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    let file = root
        .expect("the root of the workspace")
        .join("packaging/dashboard.json");
    let text = fs::read_to_string(file).expect("the dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let asked = targets
        .flatten()
        .filter_map(|target| target["expr"].as_str());
    let filled = asked.map(|text| {
        text.replace("$__rate_interval", "10s")
            .replace("$instance", ".*")
            .replace("$device", ".*")
    });
    filled.collect()
}

fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    free.expect("a port is free").to_string()
}
