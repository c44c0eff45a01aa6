//! `cargo xtask screenshots`: the pictures of reports in the guide.
//!
//! Headless Chromium opens the reports and draws them. It makes no window narrower than 500 pixels, so each report is
//! in a frame of the wanted size on a page, which looks as on a phone.

pub(crate) mod browser;
mod exploring;
mod recording;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::repository::{Failure, Repository, run, stdout};
use browser::{CHROMIUM, PATIENCE, chromium, option};

/// Runs the scenarios of the guide and draws their reports.
pub(crate) fn draw(repository: &Repository) -> Result<(), Failure> {
    let tailwater = &repository.program("tailwater")?;
    let chromium = chromium()?;
    let folder = repository.path("target/screenshots");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| Failure::file("empty", &folder, &error))?;
    }
    for (name, arguments) in RUNS {
        let mut command = Command::new(tailwater);
        command
            .args(arguments.split(' '))
            .args(["--quiet", "--out"]);
        run(command.arg(folder.join(name)).stdout(Stdio::null()))?;
    }
    let mut pictures = Vec::new();
    for shot in &SHOTS {
        let picture = repository.path(&format!("{IMAGES}/{}.png", shot.name));
        take(shot, chromium, &folder, &picture)?;
        pictures.push(picture);
    }
    for (name, of, arguments) in FIGURES {
        let figure = repository.path(&format!("{IMAGES}/{name}.png"));
        let mut plot = Command::new(tailwater);
        plot.arg("plot").arg(folder.join(of)).arg("--figure");
        plot.args(arguments).arg("-o");
        run(plot.arg(&figure).stdout(Stdio::null()))?;
        pictures.push(figure);
    }
    pictures.extend(exploring::draw(repository, tailwater, &folder, IMAGES)?);
    let played = repository.path(&format!("{IMAGES}/theatre.png"));
    recording::record(chromium, &folder, "incast", &played)?;
    let mut limits: Vec<(PathBuf, u64)> = Vec::new();
    limits.extend(pictures.into_iter().map(|picture| (picture, MAX_BYTES)));
    limits.push((played, MAX_RECORDING));
    for (picture, most) in limits {
        let size =
            fs::metadata(&picture).map_err(|error| Failure::file("read", &picture, &error))?;
        println!("{:>6} bytes  {}", size.len(), picture.display());
        if size.len() > most {
            return Err(Failure(format!("this is more than {most} bytes")));
        }
    }
    Ok(())
}

/// Runs by the name of their folder, with their commands from the guide.
const RUNS: [(&str, &str); 4] = [
    ("incast", "run incast"),
    ("collateral", "run collateral"),
    (
        "one",
        "run incast --scheme newreno --set workload.senders=60 --seeds 1",
    ),
    (
        "goals",
        "run incast --scheme newreno,dctcp --set workload.senders=40 --set switch.buffer=60pkt,80pkt,160pkt \
         --set tcp.min_rto=1ms,10ms,200ms --goal p99<15ms",
    ),
];

/// The figures of the guide: the name of the picture, the folder of the run, and the figure with its options.
const FIGURES: [(&str, &str, &[&str]); 2] = [
    ("cdf", "incast", &["fct-cdf-100-senders", "--log-x"]),
    ("collateral", "collateral", &["fct-a-to-bcd-slowest-flow"]),
];

/// A picture of a part of a report.
struct Shot {
    name: &'static str,
    /// The folder of the run.
    run: &'static str,
    /// The part of the report that is at the top of the picture; empty: its beginning.
    part: &'static str,
    /// Pixels.
    width: u32,
    height: u32,
    dark: bool,
}

const SHOTS: [Shot; 6] = [
    Shot {
        name: "report",
        run: "incast",
        part: "",
        width: 1200,
        height: 640,
        dark: false,
    },
    Shot {
        name: "report-charts",
        run: "incast",
        part: "chart-goodput",
        width: 1200,
        height: 1040,
        dark: false,
    },
    Shot {
        name: "report-dark",
        run: "incast",
        part: "chart-queue-time",
        width: 1200,
        height: 520,
        dark: true,
    },
    Shot {
        name: "report-phone",
        run: "incast",
        part: "chart-queue-time",
        width: 390,
        height: 844,
        dark: false,
    },
    Shot {
        name: "report-goals",
        run: "goals",
        part: "",
        width: 1200,
        height: 860,
        dark: false,
    },
    Shot {
        name: "report-one-run",
        run: "one",
        part: "chart-flows",
        width: 1200,
        height: 1040,
        dark: false,
    },
];

/// The folder of the guide's pictures.
const IMAGES: &str = "docs/guide/images";
/// A page with several pictures should still open at once.
const MAX_BYTES: u64 = 300_000;
/// The same for an animated picture.
const MAX_RECORDING: u64 = 1_500_000;

fn take(shot: &Shot, chromium: &str, folder: &Path, picture: &Path) -> Result<(), Failure> {
    let frame = folder.join(format!("{}.html", shot.name));
    let (run, part, width, height) = (shot.run, shot.part, shot.width, shot.height);
    let page = format!(
        "<!doctype html><style>body {{ margin: 0 }} iframe {{ border: 0 }}</style>\
         <iframe src=\"{run}/report.html#{part}\" width=\"{width}\" height=\"{height}\"></iframe>"
    );
    fs::write(&frame, page).map_err(|error| Failure::file("write", &frame, &error))?;
    let images = picture.parent().expect("a picture lies in a folder");
    fs::create_dir_all(images).map_err(|error| Failure::file("create", images, &error))?;

    let mut command = Command::new(chromium);
    command.args(CHROMIUM).arg(PATIENCE);
    command.args(shot.dark.then_some("--force-dark-mode"));
    command.arg(format!("--window-size={width},{height}"));
    command.arg(option("--user-data-dir", &folder.join("profile")));
    command.arg(option("--screenshot", picture));
    command.arg(option("file", &frame).replacen('=', "://", 1));
    // Chromium prints warnings about its machine; the output only matters if it fails.
    stdout(&mut command).map(drop)
}
