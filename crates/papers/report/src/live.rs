//! The page of a scenario that ran on real stacks: Linux beside the simulation.

use std::path::Path;

use askama::Template;
use results::statistics::Estimate;

use crate::data::Distribution;
use crate::error::Error;
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape, Style, slug};
use crate::figures::distribution;
use crate::page::{self, Breadth, Drawn};
use crate::palette::Palette;
use crate::units;

/// The contents of the page.
#[derive(Clone, Debug, Default)]
pub struct LivePage {
    /// The name of the scenario.
    pub name: String,
    /// The columns of its tables.
    pub columns: Vec<LiveColumn>,
    /// Its networks.
    pub networks: Vec<LiveNetwork>,
    /// Claims of a paper that were judged by its runs.
    pub claims: Vec<LiveClaim>,
    /// The scale at which they were judged.
    pub scale: String,
    /// Files beside the page with their contents.
    pub files: Vec<(String, String)>,
    /// Which program wrote it.
    pub version: String,
}

/// A metric of both worlds.
#[derive(Clone, Copy, Debug)]
pub struct LiveColumn {
    /// The header, as in `FCT p50`.
    pub head: &'static str,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// Digits behind the point.
    pub decimals: usize,
}

impl LiveColumn {
    /// The head as titles begin.
    fn title(&self) -> String {
        let mut letters = self.head.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect()
    }
}

/// A network and its runs.
#[derive(Clone, Debug, Default)]
pub struct LiveNetwork {
    /// What it was.
    pub title: String,
    /// The settings that distinguish it from the others.
    pub place: String,
    /// Whether its numbers are valid for TCP.
    pub is_valid: bool,
    /// Why they do, or do not.
    pub verdict: String,
    /// The schemes that ran.
    pub schemes: Vec<LiveScheme>,
    /// Those that did not, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Settings that Linux does not follow, with the actual value.
    pub different: Vec<(String, String)>,
}

/// A scheme in both worlds: Linux first.
#[derive(Clone, Debug, Default)]
pub struct LiveScheme {
    /// Its name.
    pub name: String,
    /// By column.
    pub estimates: Vec<[Estimate; 2]>,
    /// Completion times of all runs in us, the shortest first.
    pub fct_us: [Vec<f64>; 2],
    /// Flows of all runs, those without an end included.
    pub flows: [usize; 2],
}

/// A claim of a paper in both worlds.
#[derive(Clone, Debug, Default)]
pub struct LiveClaim {
    /// The paper's statement, and its place.
    pub says: String,
    /// The same in a few words.
    pub paper: String,
    /// The results: on Linux, and in the simulation.
    pub found: [String; 2],
    /// The verdict.
    pub verdict: String,
    /// Why.
    pub reason: String,
}

#[derive(Template)]
#[template(path = "live.html")]
struct Page<'a> {
    live: &'a LivePage,
    networks: Vec<NetworkTable<'a>>,
    charts: Vec<Drawn>,
    style: &'static str,
    script: &'static str,
}

/// A network with its table.
struct NetworkTable<'a> {
    network: &'a LiveNetwork,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    scheme: &'a str,
    colour: String,
    /// Values with half their intervals, which may be empty.
    cells: Vec<(String, String)>,
}

/// Writes the page to `out`: one file that needs no network. Equal pages give equal bytes.
pub fn write_live(live: &LivePage, out: &Path) -> Result<(), Error> {
    let palette = palette(live);
    let figures = figures(live, &palette);
    let page = Page {
        live,
        networks: live
            .networks
            .iter()
            .map(|one| shown(live, one, &palette))
            .collect(),
        charts: page::charts(&figures, Breadth::Half),
        style: page::STYLE,
        script: page::SCRIPT,
    };
    crate::put_page(out, &page)
}

fn palette(live: &LivePage) -> Palette {
    let schemes = live.networks.iter().flat_map(|network| &network.schemes);
    Palette::new(schemes.map(|scheme| scheme.name.as_str()))
}

fn shown<'a>(live: &LivePage, network: &'a LiveNetwork, palette: &Palette) -> NetworkTable<'a> {
    let row = |scheme: &'a LiveScheme| {
        let columns = scheme.estimates.iter().zip(&live.columns);
        let cells = columns.flat_map(|(both, column)| {
            both.each_ref().map(|estimate| {
                let text =
                    |value: Option<f64>| value.map(|value| format!("{value:.*}", column.decimals));
                let mean = text(estimate.mean).unwrap_or_else(|| "-".to_owned());
                (mean, text(estimate.half_width()).unwrap_or_default())
            })
        });
        Row {
            scheme: &scheme.name,
            colour: palette.style(&scheme.name, 0).hex(),
            cells: cells.collect(),
        }
    };
    NetworkTable {
        network,
        rows: network.schemes.iter().map(row).collect(),
    }
}

/// Completion times, then every column of the tables; a view for each network.
fn figures(live: &LivePage, palette: &Palette) -> Vec<Figure> {
    let networks = || {
        live.networks
            .iter()
            .filter(|network| !network.schemes.is_empty())
    };
    let slowest = networks().flat_map(|network| &network.schemes);
    let slowest = slowest.flat_map(|scheme| scheme.fct_us.iter().filter_map(|times| times.last()));
    let unit = units::unit("us", slowest.copied().fold(0.0, f64::max));
    let times = networks().map(|network| completions(network, palette, unit));
    let columns =
        (0..live.columns.len()).flat_map(|column| networks().map(move |network| (column, network)));
    let metrics =
        columns.map(|(column, network)| compared(network, palette, (column, live.columns[column])));
    times
        .chain(metrics)
        .filter(|figure| !figure.is_empty())
        .collect()
}

/// The distribution of completion times of every scheme in each world.
fn completions(network: &LiveNetwork, palette: &Palette, unit: units::Unit) -> Figure {
    let mut lines = Vec::new();
    for scheme in &network.schemes {
        for (world, name) in WORLDS.iter().enumerate() {
            let distribution = Distribution {
                fct_us: scheme.fct_us[world].clone(),
                flows: scheme.flows[world],
            };
            lines.push(PlotLine {
                label: format!("{}, {name}", scheme.name),
                style: of_world(palette.style(&scheme.name, 0), world),
                shape: Shape::Step,
                points: distribution::curve(&distribution, unit.size),
            });
        }
    }
    distribution::figure(
        network.place.clone(),
        unit.name,
        "The fraction of flows that completed within a time, over all runs; the simulation has dashes or dots. \
         Where a curve ends below 1, flows were unfinished or failed.",
        lines,
    )
}

/// Solid for Linux, dashed for the simulation. If colours repeat, the dashes of both change.
fn of_world(style: Style, world: usize) -> Style {
    const DASHES: [[usize; 2]; 2] = [[0, 1], [3, 2]];
    Style {
        dash: DASHES[style.round() % DASHES.len()][world],
        ..style
    }
}

/// A column of the table: a bar for Linux and a marker for the simulation.
fn compared(
    network: &LiveNetwork,
    palette: &Palette,
    (place, column): (usize, LiveColumn),
) -> Figure {
    let names = network.schemes.iter().map(|scheme| scheme.name.clone());
    let mut x = Axis::new("", "");
    x.categories = names.collect();
    let mut lines = Vec::new();
    for (scheme, at) in network.schemes.iter().zip(0_u32..) {
        for (world, shape) in [Shape::Bars(BAR), Shape::Joined].into_iter().enumerate() {
            let estimate = &scheme.estimates[place][world];
            let offset = [0.0, BAR * 0.75][world];
            let half = estimate.half_width();
            let point = estimate.mean.map(|y| PlotPoint {
                x: f64::from(at) + offset,
                y,
                // A measured value is never negative, even if the interval of few runs is wide.
                interval: half.map(|half| ((y - half).max(0.0), y + half)),
                ..PlotPoint::default()
            });
            lines.push(PlotLine {
                label: scheme.name.clone(),
                style: palette.style(&scheme.name, world),
                shape,
                points: point.into_iter().collect(),
            });
        }
    }
    Figure {
        name: slug(&format!("{} {}", column.head, network.place)),
        chart: slug(column.head),
        choice: network.place.clone(),
        title: column.title(),
        caption: "Bars are Linux, means over all runs with 95 % confidence intervals (Student's t); the open \
                  marker beside each is the simulation."
            .to_owned(),
        x,
        y: Axis::new(column.title(), column.unit),
        lines,
    }
}

/// The names of the two worlds, in the order of all pairs.
const WORLDS: [&str; 2] = ["Linux", "simulated"];

/// The width of a bar, where schemes are 1 apart.
const BAR: f64 = 0.42;

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> LivePage {
        let scheme = |name: &str, p50: f64| LiveScheme {
            name: name.to_owned(),
            estimates: vec![[
                Estimate::of([p50, p50 + 1.0].into_iter()),
                Estimate::of([p50].into_iter()),
            ]],
            fct_us: [vec![1000.0, 2000.0], vec![1500.0]],
            flows: [2, 1],
        };
        let network = LiveNetwork {
            title: "incast on Linux 6.18".to_owned(),
            place: "workload.senders = 20".to_owned(),
            is_valid: false,
            verdict: "NOT VALID: cores 95 % busy".to_owned(),
            schemes: vec![scheme("cubic", 25.0), scheme("hscc", 20.0)],
            left_out: vec![("dctcp".to_owned(), "this kernel has no dctcp".to_owned())],
            different: Vec::new(),
        };
        LivePage {
            name: "incast".to_owned(),
            columns: vec![LiveColumn {
                head: "FCT p50",
                unit: "ms",
                decimals: 1,
            }],
            networks: vec![network],
            claims: vec![LiveClaim {
                says: "HSCC drops less (Fig. 7)".to_owned(),
                verdict: "not valid".to_owned(),
                ..LiveClaim::default()
            }],
            ..LivePage::default()
        }
    }

    #[test]
    fn each_scheme_has_one_colour_and_both_worlds() {
        let live = page();
        let figures = figures(&live, &palette(&live));
        let names: Vec<_> = figures.iter().map(|figure| figure.chart.as_str()).collect();
        assert_eq!(names, ["fct-cdf", "fct-p50"]);
        for figure in &figures {
            let slots: Vec<_> = figure.lines.iter().map(|line| line.style.slot).collect();
            assert_eq!(slots[0], slots[1]);
            assert_ne!(slots[1], slots[2]);
            let dashes: Vec<_> = figure.lines.iter().map(|line| line.style.dash).collect();
            assert_ne!(dashes[0], dashes[1]);
        }
        assert_eq!(figures[0].lines[0].label, "cubic, Linux");
        assert!((figures[1].lines[1].points[0].y - 25.0).abs() < 1e-9);
    }

    #[test]
    fn intervals_of_few_runs_end_at_zero() {
        let mut live = page();
        // Two runs with 1 and 9: the interval of their mean has a half width of 51.
        live.networks[0].schemes[0].estimates[0][0] = Estimate::of([1.0, 9.0]);
        let figures = figures(&live, &palette(&live));
        let (low, high) = figures[1].lines[0].points[0].interval.unwrap();
        assert!(
            low.abs() < 1e-9 && (high - 55.8).abs() < 0.1,
            "{low}, {high}"
        );
    }

    #[test]
    fn the_page_says_everything_and_needs_no_network() {
        let file = std::env::temp_dir().join(format!("tailwater-live-{}.html", std::process::id()));
        write_live(&page(), &file).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        for part in [
            "NOT VALID: cores 95 % busy",
            "this kernel has no dctcp",
            "25.5",
            "workload.senders = 20",
            "<h1>incast</h1>",
            "HSCC drops less (Fig. 7)",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("src=\"http"));
    }
}
