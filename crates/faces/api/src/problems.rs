//! Problems as text for people.

use miette::{GraphicalReportHandler, GraphicalTheme};
use scenario::{Argument, Problem};
use sim::error::{MORE_MEMORY, MORE_STEPS};

/// Problems as text, each with its place, cause and remedy in the words of a caller; `name` returns the caller's name
/// for each argument.
pub fn rendered(
    problems: &[Problem],
    theme: GraphicalTheme,
    name: &dyn Fn(Argument, Option<&str>) -> String,
) -> Vec<String> {
    // A fixed width keeps messages the same in terminals, logs and tests.
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(WIDTH)
        .with_links(false);
    let mut lines: Vec<String> = Vec::new();
    for problem in problems.iter().take(SHOWN) {
        let mut text = String::new();
        lines.push(
            match handler.render_report(&mut text, &problem.worded(name)) {
                Ok(()) => text.trim_end_matches('\n').to_owned(),
                Err(_) => "a problem that cannot be shown".to_owned(),
            },
        );
    }
    if let Some(more @ 1..) = problems.len().checked_sub(SHOWN) {
        lines.push(format!("and {more} more problems like these"));
    }
    lines
}

/// Why a simulation failed, in the words of a caller, with the argument that raises the exceeded limit.
pub fn failure(error: &str, name: &dyn Fn(Argument) -> String) -> String {
    let limits = [
        (MORE_STEPS, Argument::Steps),
        (MORE_MEMORY, Argument::Memory),
    ];
    let limit = limits.iter().find(|(lack, _)| error.ends_with(lack));
    limit.map_or_else(
        || error.to_owned(),
        |(_, argument)| format!("{error} with {}", name(*argument)),
    )
}

/// Columns of text for people.
const WIDTH: usize = 100;
/// The most problems of one text that are shown; nobody corrects more at a time.
const SHOWN: usize = 50;
