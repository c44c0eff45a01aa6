//! `tailwater merge`: shards become one run folder.

use crate::args::MergeArgs;
use crate::output::Stop;
use crate::run;

/// Puts the finished points of several folders together, ends the run and prints the answer.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Stop> {
    let out = args.out.as_ref().unwrap_or(&args.folders[0]);
    let (store, finished) = api::merge_points(&args.folders, out, args.given.clone())?;
    let folder = api::finish(&store)?;
    run::print_in(&finished, args.format, &args.view, None)?;
    if !args.quiet {
        run::say_where(&folder);
    }
    run::verdict(&finished)
}
