//! `tailwater show`.

use scenario::{Scenario, Source};

use crate::args::ShowArgs;
use crate::output::{self, Stop};

/// Prints a scenario as it is written, or with every setting when asked for or changed.
pub(crate) fn show(args: &ShowArgs) -> Result<(), Stop> {
    let source = Source::find(&args.scenario.scenario)?.shared(&claims::KEYS);
    let written = source.text().to_owned();
    let scenario = Scenario::load(source, &args.scenario.overrides())?;
    output::problems(scenario.warnings());
    if args.resolved || args.scenario.change_something() {
        output::answer(&scenario.resolved())
    } else {
        output::answer(&written)
    }
}
