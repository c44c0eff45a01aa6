//! Both sides of many scenarios.

use std::collections::BTreeMap;

use anyhow::Result;
use rayon::prelude::*;

use crate::answer::{Answers, ScenarioRun};
use crate::list::{OracleScenario, SEEDS};
use crate::page::PageRow;
use crate::{judge, simulate};

/// Simulates every scenario to which the kernel has answered, with [`SEEDS`] seeds for each answer and `sets` on top, and
/// judges.
pub fn compare(
    scenarios: Vec<OracleScenario>,
    theirs: &Answers,
    sets: &[String],
) -> Result<Vec<PageRow>> {
    let seeds = |scenario: &OracleScenario| {
        let answers = theirs.get(&scenario.name).map_or(0, |one| one.boots.len()) as u64;
        SEEDS * answers
    };
    let runs: Vec<(&OracleScenario, u64)> = scenarios
        .iter()
        .flat_map(|scenario| (1..=seeds(scenario)).map(move |seed| (scenario, seed)))
        .collect();
    let simulate = |(scenario, seed): &(&OracleScenario, u64)| {
        Ok((scenario.name.clone(), simulate(scenario, *seed, sets)?))
    };
    let answers: Result<Vec<(String, ScenarioRun)>> = runs.par_iter().map(simulate).collect();
    let mut ours: BTreeMap<String, Vec<ScenarioRun>> = BTreeMap::new();
    for (name, answer) in answers? {
        ours.entry(name).or_default().push(answer);
    }
    let row = |scenario: OracleScenario| {
        let ours = ours.remove(&scenario.name)?;
        let theirs = theirs[&scenario.name].all();
        Some(PageRow {
            verdict: judge(&scenario, &theirs, &ours),
            scenario,
            theirs,
            ours,
        })
    };
    Ok(scenarios.into_iter().filter_map(row).collect())
}
