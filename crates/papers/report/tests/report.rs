//! Reports of real runs: complete, correct, without outside references and the same every time.

#[path = "support/browser.rs"]
mod browser;
#[path = "support/run.rs"]
mod run;

use std::fs;
use std::path::Path;

use record::trace::SeriesRow;
use report::Sentences;
use results::{Folder, Recorded, RunInMemory, RunInfo, sealed};
use scenario::{Overrides, Scenario, Source};
use serde_json::Value;
use sim::run::Limits;

use browser::{SCROLLED, told};
use run::{Temporary, Wanted, incast};

/// The sentences in the reports of these tests.
const SENTENCES: Sentences = Sentences {
    of_run: |summary| vec![format!("The answer to {}.", summary.scenario)],
    drops: |_| None,
    of_change: |_, [first, second]| vec![format!("{second} against {first}.")],
};

/// The report of `folders` as it is written.
fn report(folders: &[&Folder], path: &Path) -> String {
    report::write(folders, &SENTENCES, path).expect("a report of a test is whole");
    fs::read_to_string(path).expect("a report of a test is whole")
}

const SWEEP: Wanted<'_> = Wanted {
    schemes: None,
    sets: &["workload.senders=10,20", "workload.jitter=100us"],
    seeds: 3,
    trace: Some("queue,cwnd,rwnd,events"),
    failed: None,
};

#[test]
fn a_report_holds_every_chart_with_its_units() {
    let temporary = Temporary::new("report-charts");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let figures = report::figures(&folder).expect("figures of a whole run");
    let axes = |name: &str| {
        let figure = figures.iter().find(|figure| figure.name == name);
        let figure = figure.unwrap_or_else(|| panic!("no figure {name}"));
        let titles = (figure.x.title(), figure.y.title());
        for title in [&titles.0, &titles.1] {
            assert!(html.contains(&format!(">{title}</text>")), "{title}");
        }
        titles
    };
    for (name, x, y) in [
        (
            "fct-99th-percentile",
            "Senders",
            "FCT, 99th percentile (ms)",
        ),
        ("fct-median", "Senders", "FCT, median (ms)"),
        (
            "fct-cdf-20-senders",
            "Flow completion time (ms)",
            "Fraction of flows",
        ),
        (
            "queue-time-20-senders",
            "Time since the first start (ms)",
            "Queue (KB)",
        ),
        (
            "goodput-to-the-end",
            "Senders",
            "Goodput, to the end (Mbit/s)",
        ),
        ("goodput-by-time", "Senders", "Goodput, by time (Mbit/s)"),
        ("queue-mean", "Senders", "Bottleneck queue, mean (KB)"),
        ("drops", "Senders", "Dropped packets"),
        ("marks", "Senders", "Marked packets"),
        ("timeouts", "Senders", "Timeouts"),
        (
            "flows-rcc-20-senders",
            "Time since the first start (ms)",
            "Flow",
        ),
        (
            "cwnd-dctcp-10-senders",
            "Time since the first start (ms)",
            "Congestion window (KB)",
        ),
        (
            "rwnd-rcc-20-senders",
            "Time since the first start (ms)",
            "Advertised window (KB)",
        ),
    ] {
        assert_eq!(axes(name), (x.to_owned(), y.to_owned()), "{name}");
    }
}

#[test]
fn a_run_in_memory_is_drawn_as_that_of_its_folder() {
    let temporary = Temporary::new("report-memory");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let source = Source::new("scenario.toml", folder.scenario_text());
    let scenario = Scenario::load(source, &Overrides::default()).expect("a scenario of a run");
    let run = RunInMemory::simulate(&scenario, Limits::NONE);
    let rows = |run: &dyn Recorded| {
        let mut rows = Vec::new();
        let mut add = |row: &SeriesRow<'_>| rows.push(format!("{row:?}"));
        run.series(&mut add).expect("a whole run");
        rows
    };
    assert!(rows(&run).len() > 1000, "windows, queues and events");
    assert_eq!(rows(&run), rows(&folder));
    let drawn = |run: &dyn Recorded| report::fragments(run, &SENTENCES).expect("a whole run");
    assert_eq!(drawn(&run), drawn(&folder));
}

#[test]
fn a_report_plays_its_losses_within_its_size() {
    let temporary = Temporary::new("report-scenes");
    let wanted = Wanted {
        schemes: Some("newreno,dctcp,rcc"),
        sets: &["workload.senders=100"],
        seeds: 1,
        trace: Some("queue,events"),
        failed: None,
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    let path = folder.path().join("report.html");
    let html = report(&[&folder], &path);
    let begin = html
        .find("<section id=\"theatre\"")
        .expect("packets were dropped");
    let section = html[begin..].split("</section>").next().unwrap_or("");
    let script = include_str!("../templates/theatre.js");
    let style = include_str!("../templates/theatre.css");
    let bytes = section.len() + script.len() + style.len();
    assert!(bytes < 150_000, "{bytes}");
    // The table leads to the slow flow of each scheme that dropped anything.
    for scheme in ["newreno", "dctcp"] {
        assert!(section.contains(&format!(">{scheme} (flow ")), "{scheme}");
    }
    let told = told(
        &temporary.0,
        &html,
        1200,
        "return document.querySelectorAll('#theatre .stage').length",
    );
    assert!(told.is_none_or(|told| told == "1"));
}

#[test]
fn the_button_of_a_report_opens_the_page_that_it_carries() {
    let temporary = Temporary::new("report-opening");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html");
    let page = "<!doctype html><p>\u{b5}</p><script>a < b</script>";
    report::write_opening(&folder, &SENTENCES, page, &path).expect("a report of a test is whole");
    let html = fs::read_to_string(&path).expect("it was written");
    let script = "let url; window.open = (to) => { url = to; };
        document.getElementById('explore').click();
        const page = new XMLHttpRequest();
        page.open('GET', url, false);
        page.send();
        return [page.getResponseHeader('content-type'), page.responseText].join(' ');";
    let told = told(&temporary.0, &html, 1200, script);
    assert!(told.is_none_or(|told| told == format!("text/html {page}")));
}

#[test]
fn what_is_drawn_is_what_the_summary_says() {
    let temporary = Temporary::new("report-values");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let figures = report::figures(&folder).expect("figures of a whole run");
    let figure = figures
        .iter()
        .find(|figure| figure.name == "fct-99th-percentile");
    let mut compared = 0;
    for line in &figure.unwrap().lines {
        for point in &line.points {
            let senders = format!("{}", point.x);
            let mut rows = folder.summary().rows.iter();
            let row = rows.find(|row| {
                line.label == row.scheme && row.setting("workload.senders") == Some(&senders)
            });
            let estimate = row.unwrap().metrics["fct_p99_us"];
            let is = |ms: f64, us: Option<f64>| (ms - us.unwrap() / 1e3).abs() < 1e-9;
            let (low, high) = point.interval.unwrap();
            assert!(is(point.y, estimate.mean), "{point:?}, {estimate:?}");
            assert!(
                is(low, estimate.low) && is(high, estimate.high),
                "{point:?}, {estimate:?}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, folder.summary().rows.len());
}

#[test]
fn events_mark_the_losses_of_the_flows_that_had_them() {
    let temporary = Temporary::new("report-events");
    let wanted = Wanted {
        schemes: Some("newreno"),
        sets: &["workload.senders=100"],
        seeds: 1,
        trace: Some("events"),
        ..Wanted::default()
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    let figures = report::figures(&folder).unwrap();
    let figure = figures
        .iter()
        .find(|figure| figure.name == "flows-newreno")
        .unwrap();
    let points = |label: &str| {
        let line = figure.lines.iter().find(|line| line.label == label);
        line.map_or(0, |line| line.points.len())
    };
    let metrics = &folder.summary().points[0].metrics;
    assert!(metrics.drops > 0 && metrics.timeouts > 0);
    assert_eq!(points("packet dropped") as u64, metrics.drops);
    assert_eq!(points("timeout") as u64, metrics.timeouts);
    assert_eq!(points("start to completion"), 2 * 100);
}

#[test]
fn a_report_refers_to_nothing_outside() {
    let temporary = Temporary::new("report-closed");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let own = report(&[&folder], &folder.path().join("report.html"));
    // The name of a drawing format is not an address, and is only in the script that saves drawings.
    let own = own.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http://", "https://", "@import", " url(", "src="] {
        assert!(!own.contains(outside), "{outside}");
    }
    for link in own.split("href=\"").skip(1) {
        let target = &link[..link.find('"').unwrap()];
        let part = target
            .strip_prefix('#')
            .map(|part| format!(" id=\"{part}\""));
        let inside = target == "data:,"
            || part.is_some_and(|part| own.contains(&part))
            || folder.path().join(target).exists();
        assert!(inside, "{target}");
    }
}

#[test]
fn the_same_folder_gives_the_same_bytes() {
    let temporary = Temporary::new("report-again");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html");
    let first = report(&[&folder], &path);
    assert_eq!(report(&[&folder], &path), first);
}

#[test]
fn a_report_does_not_depend_on_the_command_or_the_machine() {
    let temporary = Temporary::new("report-command");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html");
    let first = report(&[&folder], &path);
    let info = RunInfo {
        command: ["tailwater", "run", "incast", "--resume"]
            .map(String::from)
            .into(),
        started_unix_s: 7,
        jobs: 3,
        runs: 6,
        runs_before: 5,
        wall_us: 1.0,
        cpu_us: 1.0,
        simulated_us: 1.0,
        packet_hops: 1,
        events: 1,
        ..RunInfo::default()
    };
    fs::write(folder.path().join("run.json"), sealed(&info)).unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    assert_eq!(report(&[&folder], &path), first);
}

#[test]
fn names_from_outside_stay_text() {
    let temporary = Temporary::new("report-hostile");
    let hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&";
    let wanted = Wanted {
        schemes: Some("newreno"),
        sets: &["workload.senders=2"],
        seeds: 1,
        ..Wanted::default()
    };
    let path = temporary.0.join("run");
    incast(&path, &wanted);
    // Anyone who can name a scenario, a scheme or a setting can write this into the summary.
    let file = path.join("summary.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut summary: Value = serde_json::from_str(&text).unwrap();
    summary["scenario"] = hostile.into();
    summary["title"] = hostile.into();
    summary["schemes"][0] = hostile.into();
    summary["rows"][0]["scheme"] = hostile.into();
    fs::write(&file, sealed(&summary)).unwrap();
    let folder = Folder::open(&path).unwrap();
    let html = report(&[&folder], &path.join("report.html"));
    assert!(!html.contains("<img"));
    assert!(!html.contains("alert(2)</script>"));
    assert!(html.contains("&lt;img"));
}

#[test]
fn a_failed_simulation_is_listed_with_its_command() {
    let temporary = Temporary::new("report-failed");
    let wanted = Wanted {
        failed: Some(1),
        ..SWEEP
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let failure = &folder.summary().failures[0];
    assert!(html.contains("the books do not balance"));
    assert!(html.contains(&failure.reproduce), "{}", failure.reproduce);
}

#[test]
fn runs_side_by_side_are_told_apart_and_compared_seed_by_seed() {
    let temporary = Temporary::new("report-two");
    let other = Wanted {
        sets: &[
            "workload.senders=10,20",
            "workload.jitter=100us",
            "switch.buffer=64KB",
        ],
        ..SWEEP
    };
    let before = incast(&temporary.0.join("before"), &SWEEP);
    let after = incast(&temporary.0.join("after"), &other);
    let html = report(&[&before, &after], &temporary.0.join("both.html"));
    assert!(html.contains("after against before</h2>"));
    for name in ["rcc (before)", "rcc (after)"] {
        assert!(html.contains(&format!(">{name}</text>")), "{name}");
    }
}

/// Three settings are swept: 2 x 3 x 2 combinations of them, under two schemes.
const THREE_AXES: Wanted<'_> = Wanted {
    schemes: Some("newreno,dctcp"),
    sets: &[
        "workload.senders=10,20",
        "switch.buffer=80pkt,160pkt,240pkt",
        "tcp.min_rto=1ms,10ms",
    ],
    seeds: 1,
    trace: None,
    failed: None,
};

#[test]
fn the_report_answers_before_it_shows_and_shows_before_it_lists() {
    let temporary = Temporary::new("report-order");
    let folder = incast(&temporary.0.join("run"), &THREE_AXES);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let places = [
        "class=\"answer\"",
        "id=\"chart-fct\"",
        "<svg ",
        "id=\"chart-causes\"",
        "Drops by tier",
        "id=\"comparison\"",
        "id=\"chart-goodput\"",
        "What was run",
        "<script>",
    ];
    let found: Vec<usize> = places.iter().map(|text| html.find(text).unwrap()).collect();
    assert!(found.is_sorted(), "{found:?}");
    assert!(html.len() < 600_000, "{} bytes", html.len());
}

#[test]
fn every_view_of_a_sweep_of_three_settings_covers_every_combination() {
    let temporary = Temporary::new("report-panels");
    let folder = incast(&temporary.0.join("run"), &THREE_AXES);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let chart = |id: &str| {
        let rest = html.split(&format!("id=\"chart-{id}\"")).nth(1).unwrap();
        rest.split("</figure>").next().unwrap()
    };
    let panels = |view: &str| view.matches("class=\"panel\"").count();
    // Over senders there are 3 x 2 panels, over the buffer 2 x 2, over the timer 2 x 3.
    let views: Vec<usize> = chart("fct")
        .split("class=\"view\"")
        .skip(1)
        .map(panels)
        .collect();
    assert_eq!(views, [6, 4, 6, 6, 6, 6, 6]);
    // A distribution stands for one combination.
    assert_eq!(panels(chart("fct-cdf")), 12);
    // Three views of six panels.
    assert_eq!(panels(chart("goodput")), 3 * 6);
    assert!(!html.contains("Shown are"));
}

/// Two groups and a goal for one of them over a plane of settings: 16 combinations under three schemes.
const GOALS: &str = r#"
name = "reads"
schemes = ["newreno", "dctcp", "rcc"]
goals = ["reads.fct_p99 < 10ms"]
[switch]
buffer = ["40pkt", "80pkt", "120pkt", "160pkt"]
ecn_threshold = ["15pkt", "30pkt"]
[tcp]
min_rto = ["2ms", "200ms"]
[group.reads]
workload = { senders = 12, from = "0:1-12", to = "0:0" }
[group.bulk]
workload = { senders = 2, size = "200KB", from = "0:13-14", to = "0:0" }
"#;

fn goals(name: &str) -> (Temporary, Folder) {
    let temporary = Temporary::new(name);
    let source = Source::new("reads.toml", GOALS);
    let wanted = Wanted {
        seeds: 1,
        ..Wanted::default()
    };
    let folder = run::simulate(source, &temporary.0.join("run"), &wanted);
    (temporary, folder)
}

#[test]
fn goals_are_lines_cells_and_a_ranking_of_every_row() {
    let (_temporary, folder) = goals("report-goals");
    let html = report(&[&folder], &folder.path().join("report.html"));
    let summary = folder.summary();
    let judged = summary.goals.as_ref().expect("there is a goal");
    assert_eq!(summary.rows.len(), 48);
    let met = judged.rows.iter().filter(|row| row.is_met()).count();
    assert!(met > 0 && met < 48, "{met}");
    // The first view shows the metric of the goal, and draws the goal in every panel.
    let view = html.split("class=\"view\"").nth(1).expect("a view");
    assert!(view.contains("<h4>reads, 99th percentile"), "{view}");
    let panels = view.matches("class=\"panel\"").count();
    assert_eq!(panels, 4);
    assert_eq!(view.matches(">goal &lt; 10 ms</text>").count(), panels);
    // Plots have the axes of the report.
    let figures = report::figures(&folder).unwrap();
    let plotted = figures
        .iter()
        .filter(|figure| figure.name.starts_with("fct-reads-99th-percentile"));
    let axes: Vec<_> = plotted
        .map(|figure| (figure.y.log, figure.y.range))
        .collect();
    assert_eq!(axes.len(), panels);
    assert!(
        axes.iter()
            .all(|axis| axis.0 && axis.1.is_some() && *axis == axes[0]),
        "{axes:?}"
    );
    assert!(view.contains("The axis is logarithmic"));
    // In the overview, and one by one.
    assert_eq!(html.matches(" ✓</td>").count(), met);
    let ranking = html
        .split("All 48 rows, best first")
        .nth(1)
        .expect("a ranking");
    let ranking = ranking.split("</table>").next().expect("a table");
    assert_eq!(ranking.matches("<tr><td>").count(), 48);
}

#[test]
fn classes_of_flows_by_size_have_distributions_of_their_own() {
    let temporary = Temporary::new("report-classes");
    let text = "schemes = [\"newreno\"]\nrun.classes = \"20KB\"\n[workload]\nkind = \"poisson\"\n\
                size = \"uniform(10KB, 30KB)\"\nduration = \"5ms\"\n";
    let wanted = Wanted {
        seeds: 1,
        ..Wanted::default()
    };
    let source = Source::new("classes.toml", text);
    let folder = run::simulate(source, &temporary.0.join("run"), &wanted);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let chart = html.split("id=\"chart-fct-cdf\"").nth(1);
    let chart = chart.expect("a chart of distributions");
    let views = chart.split("</select>").next().expect("a choice of views");
    for view in [">&#60;=20KB<", ">&#62;20KB<"] {
        assert!(views.contains(view), "{view} in {views}");
    }
}

#[test]
fn groups_have_rows_and_pairs_of_their_own() {
    let (_temporary, folder) = goals("report-groups");
    let html = report(&[&folder], &folder.path().join("report.html"));
    let table = html.split("id=\"comparison\"").nth(1).expect("a table");
    let table = table.split("</table>").next().expect("a table");
    assert_eq!(table.matches(">reads</td>").count(), 48);
    assert_eq!(table.matches(">bulk</td>").count(), 48);
    // Of three schemes there are three pairs at each of 16 combinations.
    assert_eq!(html.matches("<td>reads: FCT p99").count(), 3 * 16);
    let comparisons = &folder.summary().comparisons;
    let of_reads = comparisons.iter().filter(|comparison| {
        comparison.group.as_deref() == Some("reads") && comparison.metric == "fct_p99_us"
    });
    for comparison in of_reads {
        let value = |scheme: &str| {
            let mut rows = folder.summary().rows.iter();
            let row = rows.find(|row| row.set == comparison.set && row.scheme == scheme);
            row.unwrap().groups["reads"]["fct_p99_us"].mean.unwrap()
        };
        let difference = value(&comparison.scheme) - value(&comparison.baseline);
        assert!((comparison.difference.mean.unwrap() - difference).abs() < 1e-6);
    }
}

#[test]
fn labels_of_selectors_are_whole_and_differ() {
    let (_temporary, folder) = goals("report-labels");
    let html = report(&[&folder], &folder.path().join("report.html"));
    let mut labels = 0;
    for select in html.split("<select>").skip(1) {
        let select = select.split("</select>").next().expect("an end");
        let options = select
            .split("</option>")
            .filter(|option| !option.is_empty());
        let texts: Vec<&str> = options
            .map(|option| option.rsplit('>').next().expect("a text"))
            .collect();
        let mut distinct = texts.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), texts.len(), "{texts:?}");
        for text in texts {
            // The entry in the list is the heading that a reader without scripts sees.
            assert!(html.contains(&format!("<h4>{text}</h4>")), "{text}");
            assert!(!text.contains('…') && text.chars().count() < 60, "{text}");
            labels += 1;
        }
    }
    assert!(labels > 10, "{labels}");
}

#[test]
fn bars_of_causes_are_as_high_as_completion_times() {
    let temporary = Temporary::new("report-causes");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let figures = report::figures(&folder).expect("figures of a whole run");
    let figure = figures.iter().find(|figure| figure.name == "causes-mean");
    let figure = figure.expect("a run folder has causes");
    for (place, row) in folder.summary().rows.iter().enumerate() {
        let tops = figure.lines.iter().map(|line| line.points[place].y);
        let top = tops.fold(0.0, f64::max) * 1e3;
        let mean = row.value("fct_mean_us");
        assert!((top / mean - 1.0).abs() < 1e-9, "{top} of {mean} us");
    }
}

#[test]
fn bars_of_drops_show_each_cause_and_are_as_high_as_all_drops() {
    let temporary = Temporary::new("report-drops");
    let wanted = Wanted {
        schemes: Some("newreno"),
        sets: &[
            "workload.senders=60",
            "switch.pool=60KB",
            "switch.buffer=15pkt",
            "switch.ecn_threshold=off",
            "topology.faults=bottleneck: corrupt 0.01,none",
        ],
        ..Wanted::default()
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    let figures = report::figures(&folder).expect("figures of a whole run");
    let figure = figures.iter().find(|figure| figure.name == "drop-causes");
    let figure = figure.expect("a run with causes of drops has a chart of them");
    let names: Vec<&str> = figure
        .lines
        .iter()
        .map(|line| line.label.as_str())
        .collect();
    assert_eq!(names, ["queue full or discipline", "damaged"]);
    for (place, row) in folder.summary().rows.iter().enumerate() {
        let points = figure.lines.iter().map(|line| &line.points[place]);
        let top = points.clone().map(|point| point.y).fold(0.0, f64::max);
        assert!((top - row.value("drops")).abs() < 1e-9, "{top}");
        let parts = points.map(|point| point.inner.expect("a part"));
        let [_, damaged] = parts.collect::<Vec<_>>()[..] else {
            panic!("{names:?}");
        };
        let counted = row
            .metrics
            .get("drops_corrupt")
            .and_then(|found| found.mean);
        let counted = counted.unwrap_or(0.0);
        assert!(
            (damaged.1 - damaged.0 - counted).abs() < 1e-9,
            "{damaged:?}"
        );
    }
    // If queues alone were full, the chart of all drops says everything.
    let folder = incast(&temporary.0.join("plain"), &SWEEP);
    let figures = report::figures(&folder).expect("figures of a whole run");
    assert!(figures.iter().all(|figure| figure.chart != "drop-causes"));
}

#[test]
fn a_browser_without_network_draws_every_chart_without_complaint() {
    let Some(mut chromium) = testing::chromium() else {
        return;
    };
    let temporary = Temporary::new("report-browser");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html").canonicalize();
    let path = path.unwrap_or_else(|_| folder.path().join("report.html"));
    let html = report(&[&folder], &path);
    let output = chromium
        .arg(format!(
            "--user-data-dir={}",
            temporary.0.join("profile").display()
        ))
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", path.canonicalize().unwrap().display()))
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    let complaint = complaints.lines().find(|line| line.contains("CONSOLE"));
    assert_eq!(complaint, None);
    let document = String::from_utf8_lossy(&output.stdout);
    let charts = html.matches("<figure class=\"chart").count();
    assert!(charts > 10, "{charts}");
    // One view of each chart is shown.
    let (views, away) = (
        document.matches("class=\"view").count(),
        document.matches("class=\"view away\"").count(),
    );
    assert_eq!(views - away, charts);
}

#[test]
fn a_pointer_over_a_chart_reads_its_values() {
    let temporary = Temporary::new("report-pointer");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let html = report(&[&folder], &folder.path().join("report.html"));
    // Points at the first point of the main chart, then into its upper left corner, where nothing is drawn.
    let script = "\
        const svg = document.querySelector('.drawn svg[data-reading]');\n\
        const { f, p } = JSON.parse(svg.dataset.reading);\n\
        const box = svg.getBoundingClientRect();\n\
        const scale = box.width / svg.viewBox.baseVal.width;\n\
        const seen = [[p[0][2][0][0], p[0][2][0][1]], [f[0] + 2, f[1] + 2]].map(([x, y]) => {\n\
          const at = { clientX: box.left + x * scale, clientY: box.top + y * scale };\n\
          svg.dispatchEvent(new PointerEvent('pointermove', at));\n\
          return document.querySelector('.reading').textContent.replaceAll('\\n', ' | ');\n\
        });\n\
        return seen.join(' ; ');";
    let Some(seen) = told(&temporary.0, &html, 1000, script) else {
        return;
    };
    let (point, corner) = seen.split_once(" ; ").expect("two readings");
    let row = &folder.summary().rows[0];
    let milliseconds = row.value("fct_p99_us") / 1e3;
    assert!(point.starts_with(&format!("{} | ", row.scheme)), "{point}");
    assert!(
        point.contains(&format!("{milliseconds:.1}")),
        "{point}: {milliseconds}"
    );
    assert!(corner.contains("FCT, 99th percentile: "), "{corner}");
}

#[test]
fn a_report_needs_no_scrolling_sideways_on_a_phone() {
    let temporary = Temporary::new("report-phone");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let html = report(&[&folder], &folder.path().join("report.html"));
    if let Some(width) = told(&temporary.0, &html, 390, SCROLLED) {
        assert_eq!(width, "390");
    }
}

#[test]
fn a_report_has_the_collectives_of_every_row_with_what_held_them_up() {
    let temporary = Temporary::new("report-collectives");
    let source = Source::builtin("collective").expect("it comes with the program");
    let wanted = Wanted {
        schemes: Some("dctcp"),
        sets: &["workload.ranks=4", "workload.size=400KB"],
        seeds: 1,
        ..Wanted::default()
    };
    let folder = run::simulate(source, &temporary.0.join("run"), &wanted);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let table = html.split("what held them up</summary>").nth(1);
    let table = table.and_then(|rest| rest.split("</table>").next());
    let lines: Vec<&str> = table.expect("a table").lines().collect();
    for row in &folder.summary().rows {
        let one = &row.collectives[0];
        let held = one.held_up.as_ref().expect("a message");
        let expected = [
            row.set[0].1.clone(),
            format!("{:.2}", one.over_ideal()),
            format!("{} of {}", held.step + 1, held.steps),
            format!("{} to {}", held.sender, held.receiver),
        ];
        let is_there = |line: &&&str| expected.iter().all(|cell| line.contains(cell.as_str()));
        assert!(
            lines.iter().any(|line| is_there(&line)),
            "{expected:?} {lines:?}"
        );
    }
    assert_eq!(folder.summary().rows.len(), 2);
}
