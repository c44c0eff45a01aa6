//! Panels of a paper's figure, with what a page simulates for them.

use claims::{Experiment, Paper, Plot, PlotKind, catalogue};
use scenario::{Overrides, Problems, Scenario};
use serde::Serialize;

use crate::description;
use crate::request::{PageRequest, Panel};

/// A panel of a paper's figure in a page.
#[derive(Clone, Debug, Serialize)]
pub struct PaperPanel {
    /// The panel itself.
    pub panel: Panel,
    /// The runs that it shows, with the schemes and the values of swept settings that it needs.
    pub run: PageRequest,
    /// Whether the runs are those of the figure's own scenario, which the page opens with.
    pub own: bool,
    /// Swept settings, which keep their values whatever the page is set to.
    pub swept: Vec<String>,
    /// The setting along the horizontal axis, if it is one, with its values there.
    pub axis: Option<(String, Vec<String>)>,
}

impl PaperPanel {
    /// The panels of a figure of `paper`.
    ///
    /// # Errors
    /// Mistakes in a scenario of the paper.
    pub fn all(figure: &Experiment, paper: &Paper) -> Result<Vec<Self>, Problems> {
        let panels = figure.plots.iter().zip(1..);
        let panels = panels.map(|(plot, number)| {
            let title = [&plot.title, &figure.title];
            let title = title.into_iter().find(|title| !title.is_empty());
            let name = match figure.plots.len() {
                1 => figure.name.clone(),
                _ => format!("{}-{number}", figure.name),
            };
            let panel = Panel {
                name,
                title: title.cloned().unwrap_or_default(),
                plot: plot.to_bytes(),
                schemes: Vec::new(),
            };
            Self::of(plot, panel, (figure, paper))
        });
        panels.collect()
    }

    fn of(
        plot: &Plot,
        panel: Panel,
        (figure, paper): (&Experiment, &Paper),
    ) -> Result<Self, Problems> {
        let shown = plot.run.as_deref().unwrap_or(&figure.name);
        let find = |name: &str| paper.experiments.iter().find(|other| other.name == name);
        let runs = find(shown).map_or(shown, Experiment::runs);
        let source = &find(runs).unwrap_or(figure).source;
        let scenario = Scenario::load(source.clone(), &Overrides::default())?;
        let points = scenario.points();
        let swept = points[0].set.iter().map(|(key, _)| key);
        let swept = swept.filter(|key| description::distinct(points, key).len() > 1);
        let swept: Vec<String> = swept.cloned().collect();
        let (all, wanted) = (scenario.schemes(), schemes(plot));
        let schemes = all
            .iter()
            .filter(|name| wanted.iter().any(|own| own == *name));
        let at = plot.at.iter().filter(|(key, _)| swept.contains(key));
        Ok(Self {
            panel: Panel {
                schemes: all.iter().map(|name| (*name).to_owned()).collect(),
                ..panel
            },
            run: PageRequest {
                name: format!("{}/{runs}", paper.name),
                text: catalogue::scenario_text(source)?,
                schemes: schemes.map(|name| (*name).to_owned()).collect(),
                sets: at
                    .map(|(key, texts)| (key.clone(), texts.join(",")))
                    .collect(),
                ..PageRequest::default()
            },
            own: runs == figure.runs(),
            axis: axis(plot, &swept).map(|key| {
                let values = description::distinct(points, key).into_iter();
                (key.to_owned(), values.map(str::to_owned).collect())
            }),
            swept,
        })
    }
}

/// The schemes whose runs a panel shows; none if it shows all of its scenario.
fn schemes(plot: &Plot) -> Vec<&str> {
    let lists = plot.lines.iter().map(|line| match &line.schemes[..] {
        [] => &plot.schemes[..],
        own => own,
    });
    let lists: Vec<&[String]> = lists.collect();
    if lists.iter().any(|list| list.is_empty()) {
        return Vec::new();
    }
    let others = plot.measures().flat_map(claims::Measure::other_schemes);
    let own = lists.into_iter().flatten().map(String::as_str);
    own.chain(others).collect()
}

/// The swept setting along the horizontal axis.
fn axis<'a>(plot: &'a Plot, swept: &'a [String]) -> Option<&'a str> {
    let is_swept = plot.kind == PlotKind::Sweep && plot.x.sizes.is_empty();
    let key = plot.x.key.as_ref().or(swept.first());
    key.filter(|_| is_swept).map(String::as_str)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fmt::Write as _;
    use std::{env, fs};

    use serde_json::Value;

    use super::*;
    use crate::request::PageTask;
    use crate::run;

    /// Every panel of every paper, with its figure and how many seconds a page expects it to take, or why it refuses it.
    fn all() -> Vec<(String, Plot, PaperPanel, Result<f64, String>)> {
        let mut all = Vec::new();
        for name in catalogue::names() {
            let paper = catalogue::paper(name).unwrap();
            for figure in &paper.experiments {
                let panels = PaperPanel::all(figure, &paper).unwrap();
                assert_eq!(panels.len(), figure.plots.len(), "{}", figure.id());
                for (plot, own) in figure.plots.iter().zip(panels) {
                    let asks = PageRequest {
                        patience_s: Some(0.0),
                        ..own.run.clone()
                    };
                    let answer = run::draw(&asks, &own.panel);
                    let expected = answer["asks_s"].as_f64();
                    let problem = || answer["problems"][0]["message"].to_string();
                    all.push((figure.id(), plot.clone(), own, expected.ok_or_else(problem)));
                }
            }
        }
        all
    }

    /// Orders to draw a panel of each kind, which take little.
    pub(crate) fn quick() -> Vec<PageTask> {
        let paper = catalogue::paper("rcc").unwrap();
        let orders = QUICK.map(|(kind, name, place)| {
            let figure = paper.experiments.iter().find(|figure| figure.name == name);
            let figure = figure.expect(name);
            assert_eq!(figure.plots[place].kind, kind, "{name}");
            let own = PaperPanel::all(figure, &paper).unwrap().remove(place);
            PageTask::Draw {
                run: own.run,
                panel: own.panel,
            }
        });
        orders.into()
    }

    /// `cargo xtask play --check` asks for it.
    #[test]
    fn the_guide_says_how_many_panels_of_papers_a_page_draws() {
        if env::var_os(ALL).is_none() {
            return;
        }
        let all = all();
        let mut table = String::from(
            "| kind | panels | at once | after a question | refused |\n|---|---|---|---|---|\n",
        );
        for kind in KINDS {
            let mut counts = [0; 4];
            for (_, _, _, expected) in all.iter().filter(|(_, plot, ..)| plot.kind == kind) {
                let place = match expected {
                    Ok(seconds) if *seconds <= PATIENCE_S => 1,
                    Ok(_) => 2,
                    Err(_) => 3,
                };
                counts[0] += 1;
                counts[place] += 1;
            }
            let [panels, now, asking, refused] = counts;
            let name = format!("{kind:?}").to_lowercase();
            writeln!(
                table,
                "| {name} | {panels} | {now} | {asking} | {refused} |"
            )
            .unwrap();
        }
        let refused = all.iter().filter_map(|(figure, _, own, expected)| {
            let why = expected.as_ref().err()?;
            Some(format!("{figure} {}: {why}", own.panel.name))
        });
        let refused: Vec<String> = refused.collect();
        let guide = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../docs/guide/explore.md"
        );
        let guide = fs::read_to_string(guide).unwrap();
        assert!(guide.contains(&table), "{table}\n{}", refused.join("\n"));
    }

    /// With this variable of the environment tests look at all panels, which takes some minutes.
    const ALL: &str = "TAILWATER_PLAY_PANELS";

    #[test]
    fn panels_of_papers_show_something() {
        let orders: Vec<PageTask> = if env::var_os(ALL).is_none() {
            quick()
        } else {
            let at_once = all().into_iter().filter(|(.., expected)| {
                expected
                    .as_ref()
                    .is_ok_and(|seconds| *seconds <= PATIENCE_S)
            });
            let orders = at_once.map(|(_, _, own, _)| PageTask::Draw {
                run: own.run,
                panel: own.panel,
            });
            orders.collect()
        };
        for order in orders {
            let PageTask::Draw {
                run: request,
                panel,
            } = order
            else {
                continue;
            };
            let answer = run::draw(&request, &panel);
            assert_eq!(answer["failed"], 0, "{}: {answer}", panel.name);
            let drawn = answer["charts"].as_str().unwrap_or_default();
            assert!(
                drawn.contains("<svg"),
                "{} {}: {answer}",
                request.name,
                panel.name
            );
            assert_eq!(answer["problems"], Value::Null);
        }
    }

    /// Panels of RCC: what they draw, the figure, and their place in it.
    const QUICK: [(PlotKind, &str, usize); 4] = [
        (PlotKind::Sweep, "fig5a", 1),
        (PlotKind::Cdf, "fig5b", 0),
        (PlotKind::Time, "fig5c", 0),
        (PlotKind::Bars, "fig10-alone", 0),
    ];
    const KINDS: [PlotKind; 4] = [
        PlotKind::Sweep,
        PlotKind::Cdf,
        PlotKind::Time,
        PlotKind::Bars,
    ];
    /// Seconds beyond which a page asks.
    const PATIENCE_S: f64 = 5.0;
}
