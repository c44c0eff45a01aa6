//! Reading plots.

use super::reader::{Reader, Table};
use super::tree::{Node, Site};
use super::{Context, Runs};
use crate::{Measure, Of, PanelAxis, PanelLine, Plot, PlotKind};

impl Reader<'_> {
    /// One panel; `None` if errors leave nothing to draw.
    pub(super) fn plot(&mut self, name: &str, node: &Node<'_>, runs: Runs<'_>) -> Option<Plot> {
        let table = Table {
            name,
            required: &["kind", "lines"],
            others: &["each"],
        };
        let plot: Plot = self.read(&table, node)?;
        let site = Site::new(node);
        let context = self.run(plot.run.as_deref(), site.key("run"), runs)?;
        if let Some(key) = &plot.x.key {
            self.axis_key(key, site.key("x").key("key").place(), context);
        }
        if plot.lines.is_empty() {
            self.missing(name, "lines", site.place());
        }
        self.at(&plot.at, site.key("at"), context);
        self.schemes(&plot.schemes, site.key("schemes"), context);
        for (line, written) in plot.lines.iter().zip(site.key("lines").items()) {
            self.drawable(plot.kind, &line.measure, site.key("lines"));
            self.at(&line.at, written.key("at"), context);
            self.schemes(&line.schemes, written.key("schemes"), context);
        }
        self.of_sizes(plot.kind, (&plot.x, &plot.lines), site, context);
        for (scheme, place, _) in site.key("paper").entries() {
            self.scheme(scheme, place, context);
        }
        let has_axis = match plot.kind {
            PlotKind::Sweep => site.has("x"),
            PlotKind::Cdf | PlotKind::Time => true,
            PlotKind::Bars => false,
        };
        if site.has("paper") && !has_axis {
            let place = site.key("paper").place();
            let expected = "kind = \"sweep\" with a key, \"cdf\" or \"time\"";
            self.wrong(
                "the paper's points need an axis of numbers",
                place,
                expected,
            );
        }
        Some(plot)
    }

    /// Along sizes of flows, only flows and equations about flows can be drawn.
    fn of_sizes(
        &mut self,
        kind: PlotKind,
        (x, lines): (&PanelAxis, &[PanelLine]),
        site: Site<'_>,
        context: &Context,
    ) {
        let place = || site.key("lines").place();
        let (sizes, along) = (x.size_classes(), !x.sizes.is_empty());
        for line in lines {
            let all = [Some(&line.measure), line.low.as_ref(), line.high.as_ref()];
            for measure in all.into_iter().flatten() {
                let measure = match sizes.last() {
                    Some(class) => measure.of_sizes(class),
                    None => measure.clone(),
                };
                self.check_measure(&measure, place(), context);
            }
            let fits = match &line.measure.of {
                Of::Flows { chosen, .. } => chosen.sizes.is_none(),
                Of::Model { size, .. } => size.is_none(),
                _ => false,
            };
            if along && !fits {
                let message = "this is not measured at the sizes of the axis";
                let expected = "measures of flows, or equations about them, without a size";
                self.wrong(message, place(), expected);
            }
        }
        let drawn = [PlotKind::Sweep, PlotKind::Bars].contains(&kind) && x.key.is_none();
        if along && !drawn {
            let expected = "kind = \"sweep\" or \"bars\", and no key on the axis";
            self.wrong(
                "this plot cannot have sizes",
                site.key("x").place(),
                expected,
            );
        }
        let y = site.key("y");
        if y.has("sizes") {
            self.wrong(
                "sizes of flows are along the x axis",
                y.place(),
                "x = { sizes = [...] }",
            );
        }
    }

    /// A distribution or a series must be drawn whole, everything else as a number.
    fn drawable(&mut self, kind: PlotKind, measure: &Measure, lines: Site<'_>) {
        let is_series = matches!(measure.of, Of::Series { .. });
        let (message, expected) = match kind {
            PlotKind::Sweep | PlotKind::Bars if !measure.is_number() => (
                "a sweep and bars draw numbers, and this is a distribution or series",
                "a statistic in each measure",
            ),
            PlotKind::Cdf if measure.is_number() => (
                "a CDF draws a distribution, and this is a number",
                "measures of flows, ports or series without statistic",
            ),
            PlotKind::Time if !is_series || measure.is_number() => (
                "a plot over time draws series",
                "measures of series without statistic",
            ),
            _ => return,
        };
        self.wrong(message, lines.place(), expected);
    }
}
