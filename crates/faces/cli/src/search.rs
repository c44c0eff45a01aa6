//! Goals on the command line: `--search`, which chooses the values of a setting, and `--strict`.

use std::collections::BTreeMap;

use results::{GoalState, Summary};
use scenario::search::Searched;
use scenario::{Problem, Problems, Scenario};

use crate::args::RunArgs;

/// Fails if `--search` or `--strict` lacks what it needs.
pub(crate) fn check(args: &RunArgs, scenario: &Scenario) -> Result<(), Problems> {
    let flags = [
        ("--search", args.goal.search.is_some()),
        ("--strict", args.goal.strict),
    ];
    if let Some((flag, _)) = flags.iter().find(|(_, given)| *given)
        && scenario.goals().is_empty()
    {
        let problem = Problem::new(format!("{flag} needs a goal"));
        return Err(problem
            .help("add one, as in --goal 'fct_p99 < 10ms'")
            .into());
    }
    let Some(search) = &args.goal.search else {
        return Ok(());
    };
    let rows = scenario.points().len() / scenario.seeds() as usize / scenario.schemes().len();
    let ends = 2;
    if rows == ends {
        return Ok(());
    }
    let keys = scenario.set_keys().join(", ");
    let problem = Problem::new(format!(
        "--search goes along one axis, and several settings have several values: {keys}"
    ));
    let help = format!(
        "give every setting but {} a single value with --set",
        search.key()
    );
    Err(problem.help(help).into())
}

/// Whether every row meets every goal, or, of a search, some value does under every scheme.
pub(crate) fn succeeds(summary: &Summary) -> bool {
    let Some(goals) = &summary.goals else {
        return true;
    };
    if summary.search.is_none() {
        return goals.met() == goals.rows.len();
    }
    let met = |scheme: &String| {
        let mut rows = goals.rows.iter().zip(&summary.rows);
        rows.any(|(judged, row)| row.scheme == *scheme && judged.standing == GoalState::Met)
    };
    summary.schemes.iter().all(met)
}

/// Numbers of the values to try next: at most one for each scheme.
pub(crate) fn next(summary: &Summary, searched: &Searched) -> Vec<u64> {
    let mut next: Vec<u64> = Vec::new();
    let Some(goals) = &summary.goals else {
        return next;
    };
    for scheme in &summary.schemes {
        let rows = summary.rows.iter().zip(&goals.rows);
        let own = rows.filter(|(row, _)| row.scheme == *scheme);
        let known: BTreeMap<u64, bool> = own
            .zip(&searched.chosen)
            .map(|((_, judged), number)| (*number, judged.is_met()))
            .collect();
        if let Some(number) = searched
            .range
            .next(&known)
            .filter(|number| !next.contains(number))
        {
            next.push(number);
        }
    }
    next
}
