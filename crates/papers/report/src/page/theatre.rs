//! The theatre: scenes of simulations that dropped packets, for the page to play.

use base::Sort as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec;
use results::{Folder, Recorded};
use scenario::Problems;
use serde_json::{Value, json};

use crate::data::{Data, Detail, Run};
use crate::error::Error;
use crate::figures::flows;
use crate::units;

/// The scenes of a report.
#[derive(Default)]
pub(super) struct Theatre {
    pub(super) scenes: Vec<SceneEntry>,
    /// Data for the script.
    pub(super) json: String,
    /// Simulations whose scenes would make the page too large.
    pub(super) left_out: usize,
}

/// A simulation in the list of scenes.
pub(super) struct SceneEntry {
    pub(super) name: String,
    /// The flow that completed last, and its completion time; `None` if no flow completed.
    pub(super) slowest: Option<String>,
}

/// The scene of a simulation that a page can play.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The simulation.
    pub name: String,
    /// The flow that completed last, and its name with its completion time; `None` if no flow completed.
    pub slowest: Option<(u32, String)>,
    /// Nanoseconds of simulated time at which charts begin.
    pub start_ns: f64,
    /// The scene, as JSON.
    pub text: String,
}

/// The scenes of a run that was recorded with them, those with timeouts first.
pub(crate) fn scenes(run: &dyn Recorded) -> Result<Vec<Played>, Error> {
    let data = Data::of(std::iter::once((run, run.summary().scenario.clone())))?;
    Ok(played(&[run], &data)?)
}

/// The scenes of the simulations that are drawn one by one, those with timeouts first.
fn played(recorded: &[&dyn Recorded], data: &Data<'_>) -> Result<Vec<Played>, Problems> {
    let mut found = Vec::new();
    for (number, (recorded, run)) in recorded.iter().zip(&data.runs).enumerate() {
        for detail in run.close_ups() {
            let row = run.row(detail);
            let Some(point) = row.points.first() else {
                continue;
            };
            let seed = flows::seed(run, detail);
            let Some(text) = recorded.theatre(*point, seed)? else {
                continue;
            };
            let place = units::short_place(&row.set);
            let label = data.label(&row.scheme, number);
            let name = if place.is_empty() {
                label
            } else {
                format!("{label}, {place}")
            };
            found.push(Played {
                name,
                slowest: slowest(run, detail),
                start_ns: detail.start_us() * 1000.0,
                text,
            });
        }
    }
    let has_timeout = |played: &Played| !played.text.contains("\"timeout\":null");
    found.order_by_key(|played| !has_timeout(played));
    Ok(found)
}

/// The scenes of a report, as far as they fit.
pub(super) fn theatre(folders: &[&Folder], data: &Data<'_>) -> Result<Theatre, Problems> {
    let recorded: Vec<&dyn Recorded> = folders.iter().map(|folder| *folder as _).collect();
    let (mut theatre, mut room, mut values) = (Theatre::default(), MOST, Vec::new());
    for scene in played(&recorded, data)? {
        let packed = STANDARD.encode(compress_to_vec(scene.text.as_bytes(), LEVEL));
        if packed.len() > room {
            theatre.left_out += 1;
            continue;
        }
        room -= packed.len();
        let (flow, words) = scene.slowest.unzip();
        let value: Value = json!({ "data": packed, "start": scene.start_ns, "slow": flow });
        values.push(value);
        theatre.scenes.push(SceneEntry {
            name: scene.name,
            slowest: words,
        });
    }
    theatre.json = Value::from(values).to_string();
    Ok(theatre)
}

/// The flow that completed last, with its time in words.
fn slowest(run: &Run<'_>, detail: &Detail) -> Option<(u32, String)> {
    let point = run.row(detail).points.first()?;
    let (flow, fct_us) = run.slowest.get(point)?;
    let words = format!("flow {flow}, {:.1} ms", fct_us / 1000.0);
    Some((*flow, words))
}

/// The most bytes of all scenes in a page; the script has about 22,000 more.
const MOST: usize = 120_000;
/// How hard scenes are compressed, of 10.
const LEVEL: u8 = 8;
