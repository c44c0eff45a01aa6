//! Goals on the command line: `--search`, which chooses the values of a setting, and `--strict`.

use results::{GoalState, Summary};
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
        "--search varies one setting, but several settings have several values: {keys}"
    ));
    let help = format!(
        "give every setting except {} a single value with --set",
        search.key()
    );
    Err(problem.help(help).into())
}

/// Whether every row meets every goal; for a search, whether some value does with every scheme.
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
