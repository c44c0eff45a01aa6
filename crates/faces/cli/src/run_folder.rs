//! The run folder according to the command line.

use std::path::{Path, PathBuf};

use record::pcap::CapturePoints;
use results::Store;
use scenario::Scenario;

use crate::args::RunArgs;

/// The folder of `--out`; else `results/NAME`, or with a number appended the first one that does not exist. `--resume`
/// without `--out` takes the newest incomplete folder with the same scenario.
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
