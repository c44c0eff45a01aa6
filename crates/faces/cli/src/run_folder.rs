//! The folder of a run, as the command line says.

use std::path::{Path, PathBuf};

use record::pcap::CapturePoints;
use results::Store;
use scenario::Scenario;

use crate::args::RunArgs;

/// The folder that `--out` names; else `results/NAME`, or with a number behind it the first that
/// does not exist. `--resume` without `--out` takes the newest that has the same scenario and is not
/// complete.
pub(crate) fn choose_folder(
    args: &RunArgs,
    scenario: &Scenario,
    places: Option<&CapturePoints>,
) -> PathBuf {
    if let Some(out) = &args.keep.out {
        return out.clone();
    }
    let is_kept = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let name = scenario.name().replace(|c| !is_kept(c), "-");
    let folder = |number: u32| match number {
        1 => Path::new("results").join(&name),
        number => Path::new("results").join(format!("{name}-{number}")),
    };
    let next = (1..u32::MAX)
        .find(|number| !folder(*number).exists())
        .unwrap_or(1);
    if args.keep.resume {
        let continues = |number: &u32| Store::continues(&folder(*number), scenario, places);
        if let Some(number) = (1..next).rev().find(continues) {
            return folder(number);
        }
    }
    folder(next)
}
