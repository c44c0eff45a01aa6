//! `report` and `plot` through the real command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a small run, removed at the end.
struct Runs(PathBuf);

impl Runs {
    fn new(name: &str, runs: &[&str]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a folder for the test");
        let folder = Self(path);
        for run in runs {
            let output = folder.tailwater(&[
                "run",
                "incast",
                "--set",
                "workload.senders=4,8",
                "--out",
                run,
                "--quiet",
            ]);
            assert_eq!(output.status.code(), Some(0), "{}", complaints(&output));
        }
        folder
    }

    fn tailwater(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tailwater"))
            .args(arguments)
            .current_dir(&self.0)
            .env_remove("RUST_BACKTRACE")
            .output()
            .expect("the command runs")
    }

    fn answer(&self, arguments: &[&str]) -> String {
        let output = self.tailwater(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", complaints(&output));
        assert_eq!(complaints(&output), "");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.tailwater(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", complaints(&output));
        complaints(&output)
    }

    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect("a file that the command wrote")
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn complaints(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_report_is_written_anew_beside_its_run() {
    let runs = Runs::new("pictures-report", &["one"]);
    let report = Path::new("one").join("report.html");
    drop(fs::remove_file(runs.0.join(&report)));
    let said = runs.answer(&["report", "one"]);
    assert_eq!(said.trim_end(), report.display().to_string());
    assert!(runs.file("one/report.html").starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn several_runs_go_into_one_report_that_names_them() {
    let runs = Runs::new("pictures-several", &["one", "two"]);
    let said = runs.answer(&["report", "one", "two"]);
    assert!(said.contains("\nAll settings are the same.\n"), "{said}");
    assert_eq!(said.lines().last(), Some("report.html"));
    runs.answer(&["report", "one", "two", "-o", "both.html"]);
    assert_eq!(runs.file("report.html"), runs.file("both.html"));
    let text = String::from_utf8(runs.file("both.html")).expect("HTML is text");
    assert!(text.contains("<h1>one and two</h1>"));
    assert!(text.contains("<h2>two against one</h2>"));
}

#[test]
fn a_figure_is_drawn_in_the_format_its_name_ends_in() {
    let runs = Runs::new("pictures-plot", &["one"]);
    for (file, start) in [
        ("fct.svg", &b"<svg "[..]),
        ("fct.png", b"\x89PNG"),
        ("fct.pdf", b"%PDF-"),
    ] {
        let said = runs.answer(&["plot", "one", "--figure", "fct", "-o", file]);
        assert_eq!(said.trim_end(), file);
        assert!(runs.file(file).starts_with(start), "{file}");
    }
    let size = ["--width", "17cm", "--height", "3in"];
    let plot = ["plot", "one", "--figure", "goodput", "-o", "wide.svg"];
    runs.answer(&[&plot[..], &size].concat());
    let text = String::from_utf8(runs.file("wide.svg")).expect("SVG is text");
    assert!(text.contains("width=\"17cm\" height=\"7.62cm\""), "{text}");
    runs.answer(&["plot", "one", "--figure", "fct", "-o", "log.svg", "--log-y"]);
    assert_ne!(runs.file("log.svg"), runs.file("fct.svg"));
}

#[test]
fn every_listed_figure_can_be_drawn() {
    let runs = Runs::new("pictures-list", &["one"]);
    let list = runs.answer(&["plot", "one", "--list"]);
    assert!(list.lines().count() > 10, "{list}");
    for line in list.lines() {
        let name = line.split(' ').next().expect("a name");
        runs.answer(&["plot", "one", "--figure", name, "-o", "any.svg"]);
    }
}

#[test]
fn wrong_wishes_are_refused_with_a_remedy() {
    let runs = Runs::new("pictures-refused", &["one"]);
    let plot = |rest: &[&str]| runs.refusal(&[&["plot", "one"], rest].concat());
    let text = plot(&["--figure", "goodputt", "-o", "a.svg"]);
    assert!(text.contains("did you mean `goodput`?"), "{text}");
    let text = plot(&["--figure", "fct", "-o", "a.gif"]);
    assert!(text.contains(".svg, .png or .pdf"), "{text}");
    let text = plot(&["--figure", "fct", "-o", "a.svg", "--width", "1cm"]);
    assert!(text.contains("as in 8.5cm"), "{text}");
    let text = plot(&["--figure", "fct", "-o", "nowhere/a.svg"]);
    assert!(text.contains("cannot write"), "{text}");
    assert!(plot(&[]).contains("--figure"));
    assert!(
        runs.refusal(&["report", "nowhere"])
            .contains("does not exist")
    );
}

#[test]
fn a_plot_shows_what_is_asked_for() {
    let runs = Runs::new("plot-flags", &["run"]);
    let draw = |more: &[&str]| {
        let words = ["plot", "run", "--figure", "fct", "-o", "fct.svg"];
        runs.answer(&[&words[..], more].concat());
        String::from_utf8(runs.file("fct.svg")).expect("text")
    };
    let all = draw(&[]);
    assert!(all.contains(">newreno<") && all.contains(">rcc<"), "{all}");
    let some = draw(&["--schemes", "newreno,dctcp"]);
    assert!(
        some.contains(">dctcp<") && !some.contains(">rcc<"),
        "{some}"
    );
    let line = draw(&["--line", "goal=10ms"]);
    assert!(line.contains(">goal<"), "{line}");
    let limits = draw(&["--xlim", "0:100", "--ylim", "0s:1s"]);
    assert!(
        limits.contains(">100<") && limits.contains(">1000<"),
        "{limits}"
    );
    assert_ne!(draw(&["--x", "workload.senders"]), limits);
    let font = draw(&["--font", "Times New Roman"]);
    assert!(
        font.contains("font-family=\"Times New Roman, DejaVu Sans"),
        "{font}"
    );
    for (words, expected) in [
        (&["--schemes", "rc"][..], "did you mean `rcc`"),
        (
            &["--x", "workload.sender"],
            "did you mean `workload.senders`",
        ),
        (&["--xlim", "5"], "--xlim 5: no ends"),
        (&["--ylim", "9:1"], "--ylim 9:1: no ends"),
        (&["--line", "goal=10KB"], "no value of the vertical axis"),
    ] {
        let plot = ["plot", "run", "--figure", "fct", "-o", "fct.svg"];
        let refusal = runs.refusal(&[&plot[..], words].concat());
        assert!(refusal.contains(expected), "{refusal}");
    }
    let refusal = runs.refusal(&[
        "plot", "run", "--figure", "fct", "-o", "fct.pdf", "--font", "Arial",
    ]);
    assert!(refusal.contains("the file contains its font"), "{refusal}");
}

#[test]
fn axes_are_linear_unless_asked_and_what_is_shown_is_not_missing() {
    let runs = Runs::new("plot-linear", &[]);
    runs.answer(&[
        "run",
        "incast",
        "--set",
        "workload.senders=2,100",
        "--out",
        "run",
        "--quiet",
    ]);
    runs.answer(&["plot", "run", "--figure", "fct", "-o", "linear.svg"]);
    runs.answer(&[
        "plot", "run", "--figure", "fct", "-o", "log.svg", "--log-x", "--log-y",
    ]);
    assert_ne!(runs.file("linear.svg"), runs.file("log.svg"));
    let run = |set: &[&str], out: &str| {
        let run = ["run", "incast", "--scheme", "newreno", "--quiet"];
        runs.answer(&[&run[..], set, &["--out", out]].concat());
        String::from_utf8(runs.file(&format!("{out}/report.html"))).expect("text")
    };
    let few = ["--set", "workload.senders=3", "--set"];
    let page = run(&[&few[..], &["trace.series=rwnd"]].concat(), "lone");
    assert!(page.contains("congestion windows over time (trace.series"));
    assert!(page.contains("losses and timeouts of flows (trace.series"));
    assert!(page.contains("are marked if the run recorded them"));
    assert!(!page.contains("advertised windows over time (trace.series"));
    assert!(!page.contains("--trace"));
    // Tracing one series more loses none of the default ones.
    let many = ["--set", "workload.senders=60", "--trace", "throughput"];
    let page = run(&many, "more");
    for mark in ["packet dropped", ">timeout<"] {
        assert!(page.contains(mark), "{mark}");
    }
    assert!(page.contains("Throughput over time") && !page.contains("Not recorded"));
}
