//! `tailwater model`.

mod draw;
mod overlay;
mod settings;
mod text;

use std::path::Path;

use ::report::{Figure, FigureSize};
use scenario::{Problem, Problems, Source};
use theory::answer::{Answer, Model};

use crate::args::{Format, Length, ModelArgs};
use crate::output::{self, Stop};
use ::answer::pairs;
use settings::Settings;

/// Computes a model and prints or draws it; without a name, lists the models.
pub(crate) fn model(args: &ModelArgs) -> Result<(), Stop> {
    args.check()?;
    let Some(name) = &args.name else {
        let models = theory::MODELS.iter();
        return output::answer(&pairs(models.map(|model| (model.name, model.summary))));
    };
    let model = find(name)?;
    let settings = Settings::read(model, &args.sets)?;
    let mut answer =
        (model.answer)(&|key| settings.text(key)).map_err(|refusal| settings.refused(refusal))?;
    let mut figures: Vec<Figure> = answer.charts.iter().map(draw::figure).collect();
    if args.list {
        return output::answer(&text::list(model, &figures));
    }
    if args.simulate {
        overlay::simulate(model, &settings, &mut answer, &mut figures)?;
    }
    let Some(path) = &args.output else {
        let figure = args
            .figure
            .as_deref()
            .map(|name| chosen(model, &figures, name));
        let figure = figure.transpose()?;
        return output::answer(&match args.format {
            Format::Table => text::tables(model, &settings, &answer, args.sets.is_empty()),
            Format::Json => text::json(model, &settings, &answer, &figures),
            Format::Csv => text::csv(&answer, figure),
        });
    };
    save(args, (model, &settings, &answer), &figures, path)
}

/// Writes one figure, or all figures as HTML.
fn save(
    args: &ModelArgs,
    (model, settings, answer): (&Model, &Settings<'_>, &Answer),
    figures: &[Figure],
    path: &Path,
) -> Result<(), Stop> {
    let is_page = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
    if is_page {
        if args.figure.is_some() || args.width.is_some() || args.height.is_some() {
            let problem =
                Problem::new("an HTML page holds all figures and adapts their size to the window");
            let help =
                "leave out --figure, --width and --height, or end the name in .svg, .png or .pdf";
            return Err(Problems::from(problem.help(help)).into());
        }
        let page = text::page(model, settings, answer, figures);
        ::report::write_model(&page, path).map_err(Problems::from)?;
    } else {
        let name = args
            .figure
            .as_deref()
            .or(answer.charts.first().map(|chart| chart.name));
        let figure = chosen(model, figures, name.unwrap_or_default())?;
        let size = FigureSize::default();
        let centimetres = |length: Option<Length>, own| length.map_or(own, |length| length.0);
        let size = FigureSize {
            width_cm: centimetres(args.width, size.width_cm),
            height_cm: centimetres(args.height, size.height_cm),
        };
        ::report::save(figure, size, path).map_err(|error| explained(error, path))?;
    }
    output::wrote(path)
}

/// Models are also drawn into pages.
fn explained(error: ::report::Error, path: &Path) -> Problems {
    if ::report::Format::of(path).is_ok() {
        return error.into();
    }
    let name = path.display();
    Problem::new(format!("{name} has no format that figures come in"))
        .help("end the name in .svg, .png, .pdf or .html")
        .into()
}

fn find(name: &str) -> Result<&'static Model, Stop> {
    let found = theory::MODELS.iter().find(|model| model.name == name);
    found.copied().ok_or_else(|| {
        let names = theory::MODELS.iter().map(|model| model.name);
        explain::unknown(name, "model", names, "`tailwater model` lists all models").into()
    })
}

fn chosen<'a>(model: &Model, figures: &'a [Figure], name: &str) -> Result<&'a Figure, Stop> {
    let found = figures.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| {
        let names = figures.iter().map(|figure| figure.name.as_str());
        let remedy = format!("`tailwater model {} --list` lists its figures", model.name);
        explain::unknown(name, "figure", names, &remedy).into()
    })
}

/// A problem with the argument `text` of the command line, at `range`.
fn at_set(message: String, text: &str, range: std::ops::Range<usize>, label: &str) -> Problem {
    let source = Source::new("--set", text);
    Problem::new(message).at(&source, range, label)
}
