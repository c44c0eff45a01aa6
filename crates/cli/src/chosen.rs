//! What a run is about and where it goes, as the command line says.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use claims::catalogue;
use record::pcap::Places;
use results::Store;
use scenario::search::Searched;
use scenario::{Overrides, Problems, Scenario};

use crate::args::RunArgs;

/// The scenario with what the command line says, with as many seeds and with the values of a search.
pub(crate) fn load(
    args: &RunArgs,
    seeds: Option<u32>,
    search: Option<Searched>,
) -> Result<Scenario, Problems> {
    let source = catalogue::scenario(&args.scenario.scenario)?;
    let mut overrides = Overrides {
        goals: args.goal.typed(),
        search,
        ..args.scenario.overrides()
    };
    if let Some(seeds) = seeds {
        overrides.seeds = NonZeroU32::new(seeds);
    }
    Scenario::load(source, &overrides)
}

/// The folder that `--out` names; else `results/NAME`, or with a number behind it the first that
/// does not exist. `--resume` without `--out` takes the newest that has the same scenario and is not
/// complete.
pub(crate) fn choose_folder(
    args: &RunArgs,
    scenario: &Scenario,
    places: Option<&Places>,
) -> PathBuf {
    if let Some(out) = &args.keep.out {
        return out.clone();
    }
    let name: String = scenario
        .name()
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
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
