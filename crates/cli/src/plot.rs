//! `tailwater plot`.

use std::collections::BTreeMap;
use std::path::Path;

use ::report::{Figure, Size};
use claims::Measured;
use claims::catalogue::{self, Selection};
use claims::judge::{self, Bench};
use results::Folder;
use scenario::{Problem, Problems};

use crate::args::{Length, PlotArgs};
use crate::explain;
use crate::output::{self, Stop};
use crate::text;

/// Draws one figure of a run into a file, or lists what there is to draw.
pub(crate) fn plot(args: &PlotArgs) -> Result<(), Stop> {
    let word = args.folder.to_string_lossy();
    let is_figure = !args.folder.exists() && catalogue::scenario(&word).is_ok();
    let figures = if is_figure {
        reproduced(&word, &args.reproduced)?
    } else {
        ::report::figures(&Folder::open(&args.folder)?).map_err(Problems::from)?
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
            let problem = Problem::new(format!("{flag} has no place: that axis has names"));
            return Err(Problems::from(problem.help(format!("leave {flag} out"))).into());
        }
        axis.log |= wanted;
        axis.range = axis.range.filter(|_| !wanted);
    }
    let size = Size::default();
    let centimetres = |length: Option<Length>, default| length.map_or(default, |length| length.0);
    let size = Size {
        width_cm: centimetres(args.width, size.width_cm),
        height_cm: centimetres(args.height, size.height_cm),
    };
    save(&figure, size, path)
}

/// The panels of a figure of a paper, from what `tailwater reproduce` wrote below `out`.
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
        let judged = chosen.iter().map(|experiment| judge::Figure {
            experiment,
            bench: Bench {
                own: &runs[experiment.name.as_str()],
                others: runs.iter().map(|(name, run)| (*name, run)).collect(),
                changed: None,
                weight: None,
            },
            claims: Vec::new(),
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

fn open(folder: &Path, word: &str) -> Result<Measured, Problems> {
    if folder.is_dir() {
        return Measured::open(folder);
    }
    let problem = Problem::new(format!("there is no {}", folder.display()));
    let help = format!("`tailwater reproduce {word}` runs the figure; --reproduced says where");
    Err(problem.help(help).into())
}

fn save(figure: &Figure, size: Size, path: &Path) -> Result<(), Stop> {
    ::report::save(figure, size, path).map_err(Problems::from)?;
    output::answer(&format!("{}\n", path.display()))
}

fn list(figures: &[Figure]) -> Result<(), Stop> {
    let titles: Vec<_> = figures.iter().map(Figure::full_title).collect();
    let names = figures.iter().map(|figure| figure.name.as_str());
    let titles = titles.iter().map(String::as_str);
    output::answer(&text::pairs(names.zip(titles)))
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
        explain::unknown(name, "figure", names.map(String::as_str), remedy)
    })
}
