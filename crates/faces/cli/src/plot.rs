//! `tailwater plot`.

use std::collections::BTreeMap;
use std::path::Path;

use ::report::{Axis, Figure, FigureSize, PlotLine, PlotPoint, Shape, Style};
use claims::MeasuredRun;
use claims::catalogue::{self, Selection};
use claims::judge::{self, Bench};
use results::Folder;
use scenario::{Problem, Problems};

use crate::args::{Length, PlotArgs};
use crate::output::{self, Stop};

/// Draws one figure of a run into a file, or lists the figures.
pub(crate) fn plot(args: &PlotArgs) -> Result<(), Stop> {
    let word = args.folder.to_string_lossy();
    let is_figure = !args.folder.exists() && catalogue::scenario(&word).is_ok();
    let figures = if is_figure {
        reproduced(&word, &args.reproduced)?
    } else {
        figures(args)?
    };
    let (Some(name), Some(path)) = (&args.figure, &args.output) else {
        return list(&figures);
    };
    let mut figure = find(&figures, name)?;
    for (wanted, axis, flag) in [
        (args.log_x, &mut figure.x, "--log-x"),
        (args.log_y, &mut figure.y, "--log-y"),
    ] {
        if wanted && !axis.categories.is_empty() {
            let problem = Problem::new(format!(
                "{flag} needs an axis of numbers: this axis has names"
            ));
            return Err(Problems::from(problem.help(format!("leave {flag} out"))).into());
        }
        axis.log |= wanted;
        axis.range = axis.range.filter(|_| !wanted);
    }
    adjust(&mut figure, args)?;
    let size = FigureSize::default();
    let centimetres = |length: Option<Length>, default| length.map_or(default, |length| length.0);
    let size = FigureSize {
        width_cm: centimetres(args.width, size.width_cm),
        height_cm: centimetres(args.height, size.height_cm),
    };
    save(&figure, size, args.font.as_deref(), path)
}

/// The figures of a run folder, with the requested setting on their axis.
fn figures(args: &PlotArgs) -> Result<Vec<Figure>, Stop> {
    let folder = Folder::open(&args.folder)?;
    let axes = &folder.summary().axes;
    if let Some(key) = args.x.as_ref().filter(|key| !axes.contains(key)) {
        let names = axes.iter().map(String::as_str);
        let remedy = match axes.join(", ") {
            all if all.is_empty() => "nothing is swept in this run".to_owned(),
            all => format!("this run sweeps {all}"),
        };
        return Err(explain::unknown(key, "swept setting", names, &remedy).into());
    }
    Ok(::report::figures_over(&folder, args.x.as_deref()).map_err(Problems::from)?)
}

/// Leaves out schemes, sets the ends of the axes, and draws horizontal lines.
fn adjust(figure: &mut Figure, args: &PlotArgs) -> Result<(), Stop> {
    for scheme in &args.schemes {
        if !figure.lines.iter().any(|line| line.label == *scheme) {
            let names: Vec<String> = figure.lines.iter().map(|line| line.label.clone()).collect();
            let remedy = format!("this figure has {}", names.join(", "));
            let names = names.iter().map(String::as_str);
            return Err(explain::unknown(scheme, "line", names, &remedy).into());
        }
    }
    if !args.schemes.is_empty() {
        figure
            .lines
            .retain(|line| line.shape == Shape::Limit || args.schemes.contains(&line.label));
    }
    for (given, flag, axis) in [
        (&args.xlim, "--xlim", &mut figure.x),
        (&args.ylim, "--ylim", &mut figure.y),
    ] {
        if let Some(text) = given {
            axis.range = Some(ends(text, flag, axis)?);
        }
    }
    for text in &args.line {
        across(figure, text)?;
    }
    Ok(())
}

/// Both ends of an axis.
fn ends(text: &str, flag: &str, axis: &Axis) -> Result<(f64, f64), Stop> {
    let ends = text.split_once(':').and_then(|(low, high)| {
        let (low, high) = (axis.value(low)?, axis.value(high)?);
        (low < high && (!axis.log || low > 0.0)).then_some((low, high))
    });
    ends.ok_or_else(|| {
        let problem = Problem::new(format!("{flag} {text}: no ends of this axis"));
        let unit = axis.title();
        let above = if axis.log { ", above 0" } else { "" };
        let help =
            format!("give LOW:HIGH in the unit of {unit:?}{above}, as in 1:20, or with a unit");
        Problems::from(problem.help(help)).into()
    })
}

/// A dashed horizontal line across the figure, with or without a name.
fn across(figure: &mut Figure, text: &str) -> Result<(), Stop> {
    let (name, value) = text.split_once('=').unwrap_or((text, text));
    let Some(y) = figure.y.value(value) else {
        let problem = Problem::new(format!("--line {text}: no value of the vertical axis"));
        let help = format!(
            "give a value of {:?}, as in 10, or with a unit",
            figure.y.title()
        );
        return Err(Problems::from(problem.help(help)).into());
    };
    let xs = || {
        figure
            .lines
            .iter()
            .flat_map(|line| &line.points)
            .map(|point| point.x)
    };
    let (first, last) = (
        xs().fold(f64::INFINITY, f64::min),
        xs().fold(f64::NEG_INFINITY, f64::max),
    );
    let (first, last) = figure.x.range.unwrap_or((first, last));
    figure.lines.push(PlotLine {
        label: name.to_owned(),
        style: Style {
            slot: 0,
            dash: 0,
            open: false,
        },
        shape: Shape::Model,
        points: vec![PlotPoint::new(first, y), PlotPoint::new(last, y)],
    });
    Ok(())
}

/// The panels of a paper's figure, from the results of `tailwater reproduce` below `out`.
fn reproduced(word: &str, out: &Path) -> Result<Vec<Figure>, Stop> {
    let mut panels = Vec::new();
    for Selection { paper, figures } in catalogue::find(&[word.to_owned()])? {
        let all = || paper.experiments.iter();
        let chosen: Vec<_> = all()
            .filter(|figure| figures.contains(&figure.name))
            .collect();
        let mut runs = BTreeMap::new();
        for figure in &chosen {
            let others = figure.references().into_iter();
            for name in others.chain([figure.name.as_str()]) {
                let run = all().find(|other| other.name == name);
                let run = run.map_or(name, claims::Experiment::runs);
                runs.insert(name, open(&out.join(&paper.name).join(run), word)?);
            }
        }
        let judged = chosen.iter().map(|experiment| judge::JudgedFigure {
            experiment,
            bench: Bench {
                own: &runs[experiment.name.as_str()],
                others: runs.iter().map(|(name, run)| (*name, run)).collect(),
                changed: None,
            },
            claims: Vec::new(),
            bias: None,
        });
        let reproduction = ::report::Reproduction {
            paper: &paper,
            figures: &judged.collect::<Vec<_>>(),
            full: false,
        };
        panels.extend(reproduction.panels()?.into_iter().flatten());
    }
    Ok(panels)
}

fn open(folder: &Path, word: &str) -> Result<MeasuredRun, Problems> {
    if folder.is_dir() {
        return MeasuredRun::open(folder);
    }
    let problem = Problem::new(format!("there is no {}", folder.display()));
    let help = format!("`tailwater reproduce {word}` runs the figure; --reproduced says where");
    Err(problem.help(help).into())
}

fn save(figure: &Figure, size: FigureSize, font: Option<&str>, path: &Path) -> Result<(), Stop> {
    let format = ::report::Format::of(path)?;
    if font.is_some() && format != ::report::Format::Svg {
        let problem =
            Problem::new("--font applies to SVG only: in other formats the file contains its font");
        return Err(Problems::from(problem.help("draw an SVG, or leave --font out")).into());
    }
    ::report::save_in(figure, size, font, path).map_err(Problems::from)?;
    output::wrote(path)
}

fn list(figures: &[Figure]) -> Result<(), Stop> {
    let titles: Vec<_> = figures.iter().map(Figure::full_title).collect();
    let names = figures.iter().map(|figure| figure.name.as_str());
    let titles = titles.iter().map(String::as_str);
    output::answer(&answer::pairs(names.zip(titles)))
}

/// The figure called `name`, or the first view of a chart called so.
fn find(figures: &[Figure], name: &str) -> Result<Figure, Stop> {
    let exact = figures.iter().find(|figure| figure.name == name);
    let found = exact.or_else(|| figures.iter().find(|figure| figure.chart == name));
    found.cloned().ok_or_else(|| {
        let names = figures
            .iter()
            .flat_map(|figure| [&figure.name, &figure.chart]);
        let remedy = "`tailwater plot FOLDER --list` lists all figures of a run";
        explain::unknown(name, "figure", names.map(String::as_str), remedy).into()
    })
}
