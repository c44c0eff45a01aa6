//! Pictures of the pages that simulate.
//!
//! A script drives Chromium over a pipe: it waits until the page has simulated, and scrolls to the part of a picture.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::browser::{CHROMIUM, chromium};
use crate::repository::{Failure, Repository, run, stdout};

/// Writes the pages into `folder` and draws their pictures into `images`, a path from the root; returns the paths of
/// the pictures.
pub(super) fn draw(
    repository: &Repository,
    tailwater: &Path,
    folder: &Path,
    images: &str,
) -> Result<Vec<PathBuf>, Failure> {
    let mut pictures = Vec::new();
    for (page, arguments) in PAGES {
        let path = folder.join(format!("{page}.html"));
        let mut command = Command::new(tailwater);
        command.arg("explore").args(arguments.split(' ')).arg("-o");
        run(command.arg(&path).stdout(Stdio::null()))?;
        let shots = SHOTS.iter().filter(|shot| shot.page == page);
        let shots = shots.map(|shot| {
            json!({ "name": shot.name, "width": shot.width, "height": shot.height, "dark": shot.dark,
                "part": shot.part, "act": shot.act })
        });
        let shots = Value::from(shots.collect::<Vec<_>>());
        let mut node = Command::new("node");
        node.arg(repository.path("tools/xtask/src/screenshots/exploring.mjs"));
        node.args([folder, &path]).arg(shots.to_string());
        let text = stdout(node.arg(chromium()?).args(CHROMIUM))?;
        let wrong = |error: &dyn std::fmt::Display| Failure(format!("{page}: {error}"));
        let drawn: Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        for (name, picture) in drawn.as_object().into_iter().flatten() {
            let bytes = STANDARD.decode(picture.as_str().unwrap_or_default());
            let bytes = bytes.map_err(|error| wrong(&error))?;
            let path = repository.path(&format!("{images}/{name}.png"));
            fs::write(&path, bytes).map_err(|error| Failure::file("write", &path, &error))?;
            pictures.push(path);
        }
    }
    Ok(pictures)
}

/// Pages, and the arguments that make them.
const PAGES: [(&str, &str); 2] = [
    ("explore-incast", "incast --scheme newreno,dctcp,rcc"),
    ("explore-fig5a", "rcc/fig5a"),
];

/// A picture of a page.
struct PageShot {
    name: &'static str,
    page: &'static str,
    /// Pixels.
    width: u32,
    height: u32,
    dark: bool,
    /// The part at the top of the picture; empty: the beginning of the page.
    part: &'static str,
    /// A script that operates the page before the picture.
    act: &'static str,
}

const SHOTS: [PageShot; 6] = [
    PageShot {
        name: "explore",
        page: "explore-incast",
        width: 1440,
        height: 1000,
        dark: false,
        part: "",
        act: "",
    },
    PageShot {
        name: "explore-dark",
        page: "explore-incast",
        width: 1440,
        height: 820,
        dark: true,
        part: "theatre",
        act: PLAY,
    },
    PageShot {
        name: "explore-phone",
        page: "explore-incast",
        width: 390,
        height: 844,
        dark: false,
        part: "",
        act: "",
    },
    PageShot {
        name: "explore-phone-dark",
        page: "explore-incast",
        width: 390,
        height: 844,
        dark: true,
        part: "theatre",
        act: PLAY,
    },
    PageShot {
        name: "explore-figure",
        page: "explore-fig5a",
        width: 1440,
        height: 760,
        dark: false,
        part: "",
        act: "",
    },
    PageShot {
        name: "explore-lecture",
        page: "explore-incast",
        width: 1440,
        height: 820,
        dark: false,
        part: "",
        act: LECTURE,
    },
];

/// Moves to some packets after the first loss.
const PLAY: &str = "const { theatre } = document.getElementById(\"theatre\"); theatre.seek(theatre.scene.loss + 60000);";
/// Opens the second step of the lecture about RCC's budget.
const LECTURE: &str = "const menu = document.getElementById(\"lecture\"); \
     menu.value = [...menu.options].find((one) => one.textContent.startsWith(\"RCC\")).value; \
     menu.dispatchEvent(new Event(\"change\")); document.getElementById(\"next\").click();";
