//! `tailwater plot`.

use std::path::Path;

use ::report::{Figure, Size};
use results::Folder;
use scenario::{Problem, Problems};

use crate::args::{Length, PlotArgs};
use crate::explain;
use crate::output::{self, Stop};
use crate::text;

/// Draws one figure of a run into a file, or lists what there is to draw.
pub(crate) fn plot(args: &PlotArgs) -> Result<(), Stop> {
    let folder = Folder::open(&args.folder)?;
    let figures = ::report::figures(&folder).map_err(Problems::from)?;
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
