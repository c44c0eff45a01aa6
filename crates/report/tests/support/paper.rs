//! A paper of two figures, run and judged.

use std::collections::BTreeMap;
use std::path::Path;

use lab::experiment::{Axis, Experiment, Full, Line, Measure, Measured, Of, Paper, Plot, PlotKind};
use lab::scenario::Source;
use report::{Outcome, Reproduced, Reproduction, Tried, Verdict};

use crate::run::{Wanted, incast};

/// The figures of the paper; what `name` says is written wherever a text is free.
pub(crate) fn paper(name: &str) -> Paper {
    Paper {
        name: "paper".into(),
        title: format!("A paper about {name}"),
        citation: "A. Author, B. Author, 2017".into(),
        url: Some("https://example.org/paper".into()),
        notes: Some("Links of 1 Gbit/s.\n\nNo seeds are stated.".into()),
        experiments: vec![sweeps(name), text(name)],
    }
}

/// Simulates the first figure, which is all there is to simulate.
pub(crate) fn runs(folder: &Path) -> BTreeMap<String, Measured> {
    let path = folder.join("fig1");
    let wanted = Wanted {
        schemes: Some("newreno,dctcp,rcc"),
        sets: &["workload.senders=10..40:10", "workload.jitter=100us"],
        seeds: 3,
        trace: Some("queue"),
        ..Wanted::default()
    };
    incast(&path, &wanted);
    let run = Measured::open(&path).expect("a run of a test is whole");
    BTreeMap::from([("fig1".to_owned(), run)])
}

/// The paper with what came out, a claim for every verdict.
pub(crate) fn reproduction<'a>(
    paper: &'a Paper,
    runs: &BTreeMap<String, Measured>,
) -> Reproduction<'a> {
    let claims = [
        vec![
            claim("paper/fig1/queue", Verdict::Reproduced),
            claim("paper/fig1/order", Verdict::Partly),
            Outcome {
                causes: vec![
                    tried("dctcp.alpha = 1", Verdict::Not),
                    tried("switch.buffer = 64KB", Verdict::Reproduced),
                ],
                ..claim("paper/fig1/collapse", Verdict::Not)
            },
        ],
        vec![claim("paper/text/linux", Verdict::NotTestable)],
    ];
    let figures = paper.experiments.iter().zip(claims);
    let figures = figures.map(|(experiment, claims)| Reproduced {
        experiment,
        panels: report::panels(experiment, runs).expect("a run of a test is whole"),
        scale: experiment.scale.clone(),
        command: format!("tailwater reproduce {}", experiment.id()),
        claims,
    });
    Reproduction {
        paper,
        figures: figures.collect(),
        version: "tailwater 0.0.0".into(),
    }
}

fn claim(id: &str, verdict: Verdict) -> Outcome {
    Outcome {
        id: id.into(),
        says: "RCC's mean queue is 47.5 % lower than TCP's, averaged over the numbers of senders"
            .into(),
        place: "§6.2, Fig. 5(a)".into(),
        verdict,
        paper: "47.5 %".into(),
        ours: "46.1 % (44.0 to 48.2)".into(),
        facts: Vec::new(),
        causes: Vec::new(),
    }
}

fn tried(set: &str, verdict: Verdict) -> Tried {
    Tried {
        says: "the buffer of the switch is smaller than the paper says".into(),
        set: set.into(),
        ours: "38.2 %".into(),
        verdict,
    }
}

fn experiment(id: &str, figure: &str, title: String, plots: Vec<Plot>) -> Experiment {
    Experiment {
        paper: "paper".into(),
        name: id.into(),
        title,
        figure: figure.into(),
        section: Some("§6.2".into()),
        scale: "3 seeds with start times within 100 us".into(),
        notes: None,
        uses: None,
        full: Full::default(),
        plots,
        claims: Vec::new(),
        causes: Vec::new(),
        source: Source::new("fig1.toml", ""),
    }
}

/// A figure with a panel of every kind.
fn sweeps(name: &str) -> Experiment {
    let metric = |name| Measure {
        of: Of::Metric(name),
        statistic: None,
    };
    let line = |measure| Line {
        measure,
        low: None,
        high: None,
        label: String::new(),
        schemes: Vec::new(),
        at: Vec::new(),
    };
    let senders = || Axis {
        key: Some("workload.senders".into()),
        label: Some("Number of senders".into()),
        range: Some((0.0, 50.0)),
        ..Axis::default()
    };
    let at = || vec![("workload.senders".to_owned(), vec!["40".to_owned()])];
    let completion = Measure {
        of: Of::Flows {
            column: "fct_us",
            group: None,
            cluster: None,
        },
        statistic: None,
    };
    let queue = Line {
        low: Some(metric("queue_p50_bytes")),
        high: Some(metric("queue_p95_bytes")),
        ..line(metric("queue_mean_bytes"))
    };
    let model = Line {
        label: "equation 4".into(),
        ..line(Measure {
            of: Of::Model("rcc.steady_queue"),
            statistic: None,
        })
    };
    let plots = vec![
        Plot {
            title: format!("(a) {name}"),
            x: senders(),
            lines: vec![queue, model],
            ..Plot::default()
        },
        Plot {
            title: "(b) Drops".into(),
            x: senders(),
            y: Axis {
                log: true,
                ..Axis::default()
            },
            lines: vec![line(metric("drops"))],
            ..Plot::default()
        },
        Plot {
            kind: PlotKind::Cdf,
            title: "(c) Completion".into(),
            at: at(),
            lines: vec![line(completion)],
            ..Plot::default()
        },
        Plot {
            kind: PlotKind::Bars,
            title: "(d) Goodput".into(),
            at: at(),
            lines: vec![line(metric("goodput_bps"))],
            ..Plot::default()
        },
    ];
    experiment("fig1", "Fig. 1", format!("The queue of {name}"), plots)
}

/// A claim of the text, with nothing to draw.
fn text(name: &str) -> Experiment {
    experiment(
        "text",
        "Text",
        format!("What Linux does with {name}"),
        Vec::new(),
    )
}
