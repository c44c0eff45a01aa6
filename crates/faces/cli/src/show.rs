//! `tailwater show`.

use claims::catalogue;
use scenario::Scenario;

use crate::args::ShowArgs;
use crate::output::{self, Stop};

/// Prints a scenario or a paper's figure as written; or with every setting, if this is requested or a setting is
/// changed.
pub(crate) fn show(args: &ShowArgs) -> Result<(), Stop> {
    let source = catalogue::scenario(&args.scenario.scenario)?;
    let written = catalogue::scenario_text(&source)?;
    let scenario = Scenario::load(source, &args.scenario.overrides())?;
    output::problems(scenario.warnings());
    if args.resolved || args.scenario.change_something() {
        output::answer(&scenario.resolved())
    } else {
        output::answer(&written)
    }
}
