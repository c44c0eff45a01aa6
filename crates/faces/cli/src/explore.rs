//! `tailwater explore`.

use std::io::Write;

use api::Request;
use claims::{Experiment, Paper, catalogue};
use play::{Opened, PaperPanel};
use results::Folder;
use scenario::{Overrides, Problem, Problems, Source};

use crate::args::ExploreArgs;
use crate::output::{self, Stop};

/// Writes a page that simulates a scenario while its reader changes it, and prints its path.
pub(crate) fn explore(args: &ExploreArgs) -> Result<(), Stop> {
    let request = Request {
        overrides: Overrides {
            schemes: (!args.scheme.is_empty()).then(|| args.scheme.join(",")),
            sets: args.sets.clone(),
            seed: args.seed,
            ..Overrides::default()
        },
        ..Request::new(catalogue::scenario(&args.scenario)?)
    };
    let page = page(&request, &args.scenario)?;
    let written = results::deliver(&args.output, |file| file.write_all(page.as_bytes()));
    written.map_err(|error| Problems::from(report::Error::from(error)))?;
    output::wrote(&args.output)
}

/// The page of a request, whose scenario the command calls `name`.
pub(crate) fn page(request: &Request, name: &str) -> Result<String, Problems> {
    let Request {
        source, overrides, ..
    } = request;
    // Errors of the request name the arguments of the command.
    request.scenario()?;
    // The claims and plots of a figure are not settings.
    let text = catalogue::scenario_text(source)?;
    let sets = overrides.sets.iter().map(|set| {
        let (key, text) = set.split_once('=').ok_or_else(|| {
            let problem = Problem::new(format!("a setting is given as KEY=VALUE: {set}"));
            Problems::from(problem.help("as in workload.senders=40"))
        })?;
        Ok((key.trim().to_owned(), text.trim().to_owned()))
    });
    let schemes = overrides.schemes.iter().flat_map(|list| list.split(','));
    let shown = figure(name)?;
    let claims = shown.iter().flat_map(|(own, _)| &own.claims);
    let beside = claims.map(|claim| format!("{} ({})", claim.says, claim.place));
    let beside = beside.collect();
    let figures = shown.map(|(figure, paper)| PaperPanel::all(&figure, &paper));
    let figures = figures.transpose()?.unwrap_or_default();
    play::page(&Opened {
        name: name.to_owned(),
        source: Source::new(source.name(), text),
        schemes: schemes.map(|scheme| scheme.trim().to_owned()).collect(),
        sets: sets.collect::<Result<_, Problems>>()?,
        seed: overrides.seed,
        beside,
        figures,
    })
}

/// The page of the scenario of a run.
pub(crate) fn page_of_run(folder: &Folder) -> Result<String, Problems> {
    let source = Source::new("scenario.toml", folder.scenario_text());
    page(&Request::new(source), "scenario.toml")
}

/// The figure of a paper that has this name, with the paper.
fn figure(name: &str) -> Result<Option<(Experiment, Paper)>, Problems> {
    let Some((paper, figure)) = name.split_once('/') else {
        return Ok(None);
    };
    if !catalogue::names().contains(&paper) || !catalogue::figures(paper).contains(&figure) {
        return Ok(None);
    }
    let paper = catalogue::paper(paper)?;
    let found = paper.experiments.iter().find(|own| own.name == figure);
    Ok(found.cloned().map(|found| (found, paper)))
}
