//! Figures of papers: they draw what was measured, on the axes that the paper chose.

use std::collections::BTreeMap;
use std::rc::Rc;

use claims::judge::{self, Bench};
use claims::{ChosenFlows, FlowWeight, Level, PortSelector, Statistic, Stretch, Weight};
use claims::{
    Experiment, FullScale, Measure, MeasuredRun, Of, PanelAxis, PanelLine, Paper, Plot, PlotKind,
};
use report::{Figure, Reproduction, Shape};
use results::{Recorded as _, RunInMemory};
use scenario::{Overrides, Scenario, Source};
use sim::run::Limits;

use crate::run::{Temporary, Wanted, incast};

/// A figure with one panel.
fn experiment(plot: Plot) -> Experiment {
    Experiment {
        paper: "paper".into(),
        name: "fig1".into(),
        title: "A figure".into(),
        figure: "Fig. 1".into(),
        section: None,
        scale: "as in the paper".into(),
        notes: None,
        counted_in: None,
        uses: None,
        live: None,
        full: FullScale::default(),
        plots: vec![plot],
        claims: Vec::new(),
        readings: Vec::new(),
        causes: Vec::new(),
        source: Source::new("fig1.toml", ""),
    }
}

/// The panel of a run of `incast`, with the run.
fn drawn(name: &str, plot: Plot) -> (Figure, MeasuredRun, Temporary) {
    let temporary = Temporary::new(name);
    let path = temporary.0.join("run");
    let wanted = Wanted {
        schemes: Some("newreno,rcc"),
        sets: &["workload.senders=10,20", "workload.jitter=100us"],
        seeds: 3,
        trace: Some("queue,cwnd"),
        ..Wanted::default()
    };
    incast(&path, &wanted);
    let run = MeasuredRun::open(&path).expect("a run of a test is whole");
    let experiment = experiment(plot);
    let paper = Paper {
        name: "paper".into(),
        title: "A paper".into(),
        citation: "2017".into(),
        url: None,
        notes: None,
        sections: Vec::new(),
        contents: Vec::new(),
        experiments: vec![experiment.clone()],
    };
    let figures = [judge::JudgedFigure {
        experiment: &experiment,
        bench: Bench {
            own: &run,
            others: BTreeMap::new(),
            changed: None,
        },
        claims: Vec::new(),
        bias: None,
    }];
    let reproduction = Reproduction {
        paper: &paper,
        figures: &figures,
        full: false,
    };
    let mut panels = reproduction.panels().expect("a run of a test is whole");
    assert_eq!((panels.len(), panels[0].len()), (1, 1));
    let figure = panels[0].remove(0);
    assert_eq!(in_memory(&experiment.plots[0], &run), figure);
    (figure, run, temporary)
}

/// The panel of the same run in memory, as a page that simulates draws it.
fn in_memory(plot: &Plot, run: &MeasuredRun) -> Figure {
    let text = run.run().scenario_text();
    let scenario = Scenario::load(Source::new("run", text), &Overrides::default());
    let scenario = scenario.expect("it was run");
    let again = RunInMemory::simulate(&scenario, Limits::NONE);
    let schemes = again.summary().schemes.clone();
    let again = MeasuredRun::of(Rc::new(again), "run".to_owned()).expect("it was run");
    report::panel(plot, ("fig1", "A figure"), &schemes, &again).expect("it is whole")
}

fn metric(name: &'static str) -> Measure {
    Measure::metric(name)
}

/// A column of all flows.
fn flows(column: &'static str, statistic: Option<Statistic>) -> Measure {
    let of = Of::Flows {
        column,
        chosen: ChosenFlows::default(),
        weight: FlowWeight::Flow,
        each_sender: None,
    };
    Measure::new(of, statistic)
}

fn equation(name: &'static str) -> Measure {
    Measure::new(Of::Model { name, size: None }, None)
}

fn line(measure: Measure) -> PanelLine {
    PanelLine {
        measure,
        low: None,
        high: None,
        label: String::new(),
        schemes: Vec::new(),
        at: Vec::new(),
    }
}

fn senders() -> PanelAxis {
    PanelAxis {
        key: Some("workload.senders".into()),
        label: Some("Number of senders".into()),
        ..PanelAxis::default()
    }
}

#[test]
fn points_of_the_paper_lie_behind_ours_in_the_colour_of_their_scheme() {
    let published = vec![(10.0, 30.0), (20.0, 60.0)];
    let plot = Plot {
        x: senders(),
        y: PanelAxis {
            unit: Some("KB".into()),
            ..PanelAxis::default()
        },
        lines: vec![line(metric("queue_mean_bytes"))],
        paper: vec![("rcc".into(), published.clone())],
        ..Plot::default()
    };
    let (figure, _run, _kept) = drawn("panel-published", plot);
    let theirs = &figure.lines[0];
    assert_eq!(theirs.label, "rcc, paper");
    let drawn: Vec<_> = theirs
        .points
        .iter()
        .map(|point| (point.x, point.y))
        .collect();
    assert_eq!(drawn, published);
    let ours = figure.lines.iter().find(|line| line.label == "rcc");
    let ours = ours.expect("RCC is drawn");
    assert_eq!(theirs.style.slot, ours.style.slot);
    assert!(theirs.style.open && !ours.style.open);
    assert!(
        figure.caption.contains("the paper's figure"),
        "{}",
        figure.caption
    );
}

/// At 20 senders.
fn at_twenty() -> Vec<(String, Vec<String>)> {
    vec![("workload.senders".into(), vec!["20".into()])]
}

#[test]
fn a_sweep_shows_means_with_percentiles_on_the_axes_of_the_paper() {
    let plot = Plot {
        x: PanelAxis {
            range: Some((0.0, 100.0)),
            ..senders()
        },
        y: PanelAxis {
            label: Some("Queue".into()),
            unit: Some("KB".into()),
            range: Some((0.0, 120.0)),
            ..PanelAxis::default()
        },
        lines: vec![
            PanelLine {
                low: Some(metric("queue_p50_bytes")),
                high: Some(metric("queue_p95_bytes")),
                ..line(metric("queue_mean_bytes"))
            },
            PanelLine {
                label: "equation 4".into(),
                ..line(equation("rcc.steady_queue"))
            },
        ],
        ..Plot::default()
    };
    let (figure, run, _kept) = drawn("panel-sweep", plot);
    assert_eq!(figure.x.range, Some((0.0, 100.0)));
    assert_eq!(figure.y.title(), "Queue (KB)");
    let labels: Vec<_> = figure
        .lines
        .iter()
        .map(|line| line.label.as_str())
        .collect();
    assert_eq!(labels, ["newreno", "rcc", "equation 4"]);
    assert_eq!(figure.lines[2].shape, Shape::Model);
    let summary = run.run().summary();
    for line in &figure.lines[..2] {
        assert_eq!(line.shape, Shape::Ranges);
        let rows = summary.rows.iter().filter(|row| row.scheme == line.label);
        let rows: Vec<_> = rows.collect();
        assert_eq!(line.points.len(), rows.len());
        for (point, row) in line.points.iter().zip(rows) {
            let close = |ours: f64, metric: &str| {
                let theirs = row.value(metric) / 1e3;
                assert!((ours - theirs).abs() < 1e-9, "{metric}: {ours} {theirs}");
            };
            let (low, high) = point.interval.unwrap();
            close(point.y, "queue_mean_bytes");
            close(low, "queue_p50_bytes");
            close(high, "queue_p95_bytes");
            // Beside the place of the other scheme, and nearer to its own than to the next.
            let senders: f64 = row.setting("workload.senders").unwrap().parse().unwrap();
            assert!((point.x - senders).abs() > 0.5 && (point.x - senders).abs() < 5.0);
        }
    }
}

#[test]
fn two_pairs_of_percentiles_are_one_range() {
    let percentile = |percent| flows("fct_us", Some(Statistic::Percentile(percent)));
    let range = |low, high| PanelLine {
        low: Some(percentile(low)),
        high: Some(percentile(high)),
        ..line(percentile(50.0))
    };
    let plot = Plot {
        x: senders(),
        lines: vec![range(25.0, 75.0), range(1.0, 99.0)],
        ..Plot::default()
    };
    let (figure, _run, _kept) = drawn("panel-nested", plot);
    assert_eq!(figure.lines.len(), 2);
    for point in figure.lines.iter().flat_map(|line| &line.points) {
        let (outer, inner) = (point.interval.unwrap(), point.inner.unwrap());
        assert!(outer.0 <= inner.0 && inner.0 <= point.y);
        assert!(point.y <= inner.1 && inner.1 <= outer.1);
        assert!(outer.1 - outer.0 > inner.1 - inner.0);
    }
}

#[test]
fn the_distribution_of_a_queue_agrees_with_its_percentiles() {
    let queue = Measure::series("queue_bytes");
    let plot = Plot {
        kind: PlotKind::Cdf,
        x: PanelAxis {
            unit: Some("bytes".into()),
            ..PanelAxis::default()
        },
        at: at_twenty(),
        lines: vec![line(queue)],
        ..Plot::default()
    };
    let (figure, run, _kept) = drawn("panel-queue-cdf", plot);
    let rows = &run.run().summary().rows;
    for line in &figure.lines {
        let last = line.points.last().unwrap();
        assert!((last.y - 1.0).abs() < 1e-9, "{last:?}");
        let mut rows = rows.iter().filter(|row| {
            row.scheme == line.label && row.setting("workload.senders") == Some("20")
        });
        let greatest = rows.next().unwrap().value("queue_max_bytes");
        // The mean of the greatest of three seeds is at most the greatest of all.
        assert!(last.x >= greatest - 1e-9, "{last:?} {greatest}");
        let rises = line.points.is_sorted_by(|a, b| a.x <= b.x && a.y <= b.y);
        assert!(rises, "{:?}", line.points);
    }
}

#[test]
fn a_distribution_of_flows_may_be_of_absolute_times() {
    let completions = flows("completion_us", None);
    let plot = Plot {
        kind: PlotKind::Cdf,
        x: PanelAxis {
            label: Some("Time".into()),
            unit: Some("ms".into()),
            range: Some((0.0, 1.0)),
            ..PanelAxis::default()
        },
        y: PanelAxis {
            unit: Some("%".into()),
            ..PanelAxis::default()
        },
        at: at_twenty(),
        schemes: vec!["rcc".into()],
        lines: vec![line(completions)],
        ..Plot::default()
    };
    let (figure, run, _kept) = drawn("panel-flow-cdf", plot);
    let mut latest = 0.0_f64;
    let folder = run.run();
    let row = folder
        .summary()
        .rows
        .iter()
        .find(|row| row.scheme == "rcc" && row.setting("workload.senders") == Some("20"));
    let points = &row.unwrap().points;
    let mut each = |point, flow: &sim::metrics::FlowRecord| {
        if points.contains(&point) {
            latest = latest.max(flow.completion_us.get().unwrap());
        }
    };
    folder.flows(&mut each).unwrap();
    let last = figure.lines[0].points.last().unwrap();
    assert!((last.x - latest / 1e3).abs() < 1e-9);
    assert!((last.y - 100.0).abs() < 1e-9);
    assert!(
        figure.caption.contains("beyond the axis of time: rcc"),
        "{}",
        figure.caption
    );
}

#[test]
fn flows_over_time_are_told_apart_or_drawn_as_one() {
    let windows = |flow| {
        let of = Of::Series {
            column: "cwnd_bytes",
            place: PortSelector::default(),
            group: None,
            flow,
            host: None,
            during: Stretch::default(),
            window_us: None,
            across: Statistic::Mean,
            weight: Weight::Time,
            apart_from: None,
        };
        Measure::new(of, None)
    };
    let plot = |flow| Plot {
        kind: PlotKind::Time,
        at: at_twenty(),
        schemes: vec!["newreno".into()],
        lines: vec![line(windows(flow))],
        ..Plot::default()
    };
    let (figure, _run, _kept) = drawn("panel-time", plot(None));
    assert_eq!(figure.lines.len(), 20);
    assert!(figure.lines.iter().all(|line| line.shape == Shape::Faint));
    let (figure, _run, _kept) = drawn("panel-time-one", plot(Some(3)));
    assert_eq!(figure.lines.len(), 1);
    assert_eq!(figure.lines[0].shape, Shape::Step);
    assert_eq!(figure.x.label, "Time");
}

#[test]
fn bars_stand_side_by_side_and_zero_is_said_where_it_cannot_be_drawn() {
    let ports = |place: &str| {
        let of = Of::Ports {
            column: "drops",
            place: PortSelector {
                from: Some(place.into()),
                ..PortSelector::default()
            },
        };
        Measure::new(of, Some(Statistic::Sum))
    };
    let named = |label: &str, place| PanelLine {
        label: label.into(),
        ..line(ports(place))
    };
    let plot = Plot {
        kind: PlotKind::Bars,
        y: PanelAxis {
            label: Some("Drops".into()),
            log: true,
            ..PanelAxis::default()
        },
        at: at_twenty(),
        lines: vec![named("switch", "switch 0"), named("hosts", "host")],
        ..Plot::default()
    };
    let (figure, _run, _kept) = drawn("panel-bars", plot);
    assert_eq!(figure.x.categories, ["switch", "hosts"]);
    assert_eq!(figure.lines.len(), 2);
    let (newreno, rcc) = (&figure.lines[0], &figure.lines[1]);
    assert!(newreno.points[0].y > 0.0 && newreno.points[0].x < rcc.points[0].x);
    assert!(rcc.points[0].y.abs() < 1e-9);
    assert!(
        figure.caption.contains("logarithmic axis: newreno, rcc"),
        "{}",
        figure.caption
    );
}

#[test]
fn sizes_of_flows_are_an_axis_or_groups_of_bars_with_the_equation_over_them() {
    // 32 KiB each: all flows are of the second class.
    let sizes = ["10KB", "40KB"].map(|text| Level::parse(text).unwrap());
    let saved = Measure {
        reduction_from: Some("newreno".into()),
        ..flows("fct_us", Some(Statistic::Mean))
    };
    let plot = |kind| Plot {
        kind,
        x: PanelAxis {
            unit: Some("KB".into()),
            sizes: sizes.to_vec(),
            ..PanelAxis::default()
        },
        y: PanelAxis {
            label: Some("Reduction".into()),
            unit: Some("%".into()),
            ..PanelAxis::default()
        },
        at: at_twenty(),
        lines: vec![line(saved.clone()), line(equation("rc3.reduction"))],
        ..Plot::default()
    };
    let labels = |figure: &Figure| -> Vec<String> {
        let lines = figure.lines.iter();
        lines.map(|line| line.label.clone()).collect()
    };
    let (figure, run, _kept) = drawn("panel-sizes", plot(PlotKind::Sweep));
    assert_eq!(figure.x.title(), "Flow size (KB)");
    assert_eq!(labels(&figure), ["newreno", "rcc", "equation"]);
    assert_eq!(figure.lines[2].shape, Shape::Model);
    // No flow has at most 10 KB; the equation is about flows of 10 and of 40 KB.
    let places =
        |line: &report::PlotLine| line.points.iter().map(|point| point.x).collect::<Vec<_>>();
    assert_eq!(places(&figure.lines[1]), [40.0]);
    assert_eq!(places(&figure.lines[2]), [10.0, 40.0]);
    // The saving against oneself is zero. The saving against the other follows from the rows of the summary.
    let rows = &run.run().summary().rows;
    let points = &run.run().summary().points;
    let means = |scheme: &str| -> Vec<f64> {
        let mut rows = rows.iter();
        let row =
            rows.find(|row| row.scheme == scheme && row.setting("workload.senders") == Some("20"));
        let own = row.unwrap().points.iter();
        own.map(|own| {
            let point = points.iter().find(|point| point.point == *own);
            point.unwrap().metrics.fct_mean_us
        })
        .collect()
    };
    let each = means("newreno").into_iter().zip(means("rcc"));
    let each: Vec<f64> = each.map(|(tcp, rcc)| 100.0 * (tcp - rcc) / tcp).collect();
    let mean = each.iter().sum::<f64>() / 3.0;
    assert!(figure.lines[0].points[0].y.abs() < 1e-12);
    let drawn_mean = figure.lines[1].points[0].y;
    assert!((drawn_mean - mean).abs() < 1e-9, "{drawn_mean} {mean}");

    let (figure, _run, _kept) = drawn("panel-sizes-bars", plot(PlotKind::Bars));
    assert_eq!(figure.x.categories, ["10", "40"]);
    assert!(matches!(figure.lines[1].shape, Shape::Bars(_)));
    assert_eq!(figure.lines[2].shape, Shape::Model);
    // Side by side at the second place, left and right of it.
    assert!(figure.lines[0].points[0].x < 1.0 && figure.lines[1].points[0].x > 1.0);
    assert_eq!(places(&figure.lines[2]), [0.0, 1.0]);

    // Equations alone are told apart by the colours of their schemes, and have no intervals.
    let of = |scheme: &str| PanelLine {
        label: scheme.into(),
        schemes: vec![scheme.to_owned()],
        ..line(equation("rc3.reduction"))
    };
    let alone = Plot {
        lines: vec![of("newreno"), of("rcc")],
        ..plot(PlotKind::Sweep)
    };
    let (figure, _run, _kept) = drawn("panel-equations", alone);
    assert_eq!(labels(&figure), ["newreno", "rcc"]);
    for line in &figure.lines {
        assert_eq!(line.shape, Shape::Curve);
        assert!(line.points.iter().all(|point| point.interval.is_none()));
    }
    assert_ne!(figure.lines[0].style.slot, figure.lines[1].style.slot);
}
