//! `tailwater explore`.

use std::io::Write;

use api::Request;
use base::cast;
use claims::{Experiment, catalogue};
use play::Opened;
use report::OnAxes;
use results::Folder;
use scenario::{Overrides, Problem, Problems, Scenario, Source};

use crate::args::ExploreArgs;
use crate::output::{self, Stop};

/// Writes a page that simulates a scenario while its reader changes it, and prints where it is.
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
    let scenario = request.scenario()?;
    // Claims and plots of a figure are no settings.
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
    let claims = shown.iter().flat_map(|own| &own.claims);
    let claims = claims.map(|claim| format!("{} ({})", claim.says, claim.place));
    let figures = shown
        .as_ref()
        .map_or_else(Vec::new, |shown| panels(shown, &scenario));
    play::page(&Opened {
        name: name.to_owned(),
        source: Source::new(source.name(), text),
        schemes: schemes.map(|scheme| scheme.trim().to_owned()).collect(),
        sets: sets.collect::<Result<_, Problems>>()?,
        seed: overrides.seed,
        beside: claims.collect(),
        figures,
    })
}

/// The page of the scenario of a run.
pub(crate) fn page_of_run(folder: &Folder) -> Result<String, Problems> {
    let source = Source::new("scenario.toml", folder.scenario_text());
    page(&Request::new(source), "scenario.toml")
}

/// The figure of a paper that has this name.
fn figure(name: &str) -> Result<Option<Experiment>, Problems> {
    let Some((paper, figure)) = name.split_once('/') else {
        return Ok(None);
    };
    if !catalogue::names().contains(&paper) || !catalogue::figures(paper).contains(&figure) {
        return Ok(None);
    }
    let mut all = catalogue::paper(paper)?.experiments.into_iter();
    Ok(all.find(|own| own.name == figure))
}

/// Its panels that a page can draw.
fn panels(figure: &Experiment, scenario: &Scenario) -> Vec<OnAxes> {
    let points = scenario.points();
    // Settings of groups are swept, too.
    let swept = points[0].set.iter().enumerate();
    let swept = swept.filter(|(place, (_, text))| {
        let mut others = points.iter().map(|point| &point.set[*place].1);
        others.any(|other| other != text)
    });
    let axes: Vec<String> = swept.map(|(_, (key, _))| key.clone()).collect();
    let packet = cast::real(scenario.points()[0].keys.packet_bytes());
    let plots = figure.plots.iter();
    plots
        .filter_map(|plot| OnAxes::of(plot, &figure.title, &axes, packet))
        .collect()
}
