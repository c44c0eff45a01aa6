//! The goals of a scenario and its command line, with the positions of errors in them.

use std::ops::Range;

use super::values::Value;
use super::{Argument, PointSpec, Problem, Problems, Source};
use crate::goal::Goal;
use plan::metric::Unknown;

/// A goal and its position.
pub(super) struct Placed {
    goal: Goal,
    source: Source,
    place: Range<usize>,
}

/// Reads `arguments` or, if there are none, the goals of the file.
pub(super) fn read(
    file: &[Value],
    source: &Source,
    arguments: &[String],
    problems: &mut Vec<Problem>,
) -> Vec<Placed> {
    let written = file
        .iter()
        .map(|value| (value.text.as_str(), source.clone(), value.place.clone()));
    let typed = arguments.iter().map(|text| {
        let source = Source::of_argument(Argument::Goals, text.as_str());
        (text.as_str(), source, 0..text.len())
    });
    let all: Vec<_> = if arguments.is_empty() {
        written.collect()
    } else {
        typed.collect()
    };
    let mut goals: Vec<Placed> = Vec::new();
    for (text, source, place) in all {
        match Goal::parse(text) {
            Ok(goal) if goals.iter().any(|earlier| earlier.goal == goal) => {
                let problem = Problem::new(format!("the goal {goal} is given twice"));
                let problem = problem.at(&source, place, "given before");
                problems.push(problem.help("leave one of them out"));
            }
            Ok(goal) => goals.push(Placed {
                goal,
                source,
                place,
            }),
            Err(unknown) => problems.push(problem(&unknown, &source, place)),
        }
    }
    goals
}

/// Fails unless every simulation has the metrics of the goals.
pub(super) fn check(goals: Vec<Placed>, points: &[PointSpec]) -> Result<Vec<Goal>, Problems> {
    let unknown = goals.iter().filter_map(|placed| {
        let unknown = placed.goal.selector.check(points).err()?;
        Some(problem(&unknown, &placed.source, placed.place.clone()))
    });
    let problems = unknown.collect();
    let goals = goals.into_iter().map(|placed| placed.goal).collect();
    Problems::unless(problems, goals)
}

fn problem(unknown: &Unknown, source: &Source, place: Range<usize>) -> Problem {
    let problem = Problem::new(unknown.cause.as_str());
    problem
        .at(source, place, "wrong goal")
        .help(unknown.remedy.as_str())
}
