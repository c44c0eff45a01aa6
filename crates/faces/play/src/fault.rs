//! Faults of settings, for the place of the page where they stand.

use scenario::{Argument, Problem, Problems};
use serde::Serialize;
use serde_json::{Value, json};

/// The answer of something that may be wrong.
pub(crate) fn answered(result: Result<Value, Problems>) -> Value {
    result.unwrap_or_else(|problems| json!({ "problems": faults(&problems) }))
}

/// One mistake.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    message: String,
    /// The setting that was given, if it is about one.
    key: Option<String>,
    /// Where else it is, in words.
    place: Option<String>,
    remedy: Option<String>,
}

/// All of them.
pub(crate) fn faults(problems: &Problems) -> Vec<Fault> {
    problems.0.iter().map(fault).collect()
}

/// One of them, which may be a hint.
pub(crate) fn fault(problem: &Problem) -> Fault {
    let worded = problem.worded(&|argument, _| argument.name().to_owned());
    let spot = worded.spot();
    let set = spot.filter(|spot| spot.name == Argument::Set.name());
    Fault {
        message: worded.to_string(),
        key: set.and_then(|spot| Some(spot.text.split_once('=')?.0.trim().to_owned())),
        place: match set {
            None => spot.map(|spot| format!("{}, line {}: {}", spot.name, spot.line, spot.says)),
            Some(spot) => Some(spot.says.to_owned()),
        },
        remedy: worded.remedy(),
    }
}
