//! A paper of two figures, read from files, run and judged.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use claims::judge::{
    Bench, Bias, Effect, Finding, Judged, JudgedFigure, OtherReading, TriedCause, Verdict,
};
use claims::{MeasuredRun, Paper, catalogue};
use report::Reproduction;

use crate::run::{Wanted, simulate};

/// The paper with the results of its one run.
pub(crate) struct Judgement {
    paper: Paper,
    run: MeasuredRun,
}

impl Judgement {
    /// Writes the paper into `folder`, reads it and runs it there. `name` fills every free text.
    pub(crate) fn of(folder: &Path, name: &str) -> Self {
        let paper = folder.join("paper");
        fs::create_dir_all(&paper).expect("a test writes its paper");
        for (file, text) in [
            ("paper.toml", PAPER),
            ("fig1.toml", FIGURE),
            ("text.toml", TEXT),
        ] {
            // Escapes quotes for a text of TOML.
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            let text = text.replace("NAME", &name);
            fs::write(paper.join(file), text).expect("a test writes its paper");
        }
        let found = catalogue::find(&[paper.display().to_string()]);
        let paper = found.expect("the paper of a test is right").remove(0).paper;
        let path = folder.join("run");
        let wanted = Wanted {
            seeds: 3,
            ..Wanted::default()
        };
        simulate(paper.experiments[0].source.clone(), &path, &wanted);
        let run = MeasuredRun::open(&path).expect("a run of a test is whole");
        Self { paper, run }
    }

    /// The figures, judged. For what is not reproduced, a tried cause is stated.
    pub(crate) fn figures(&self) -> Vec<JudgedFigure<'_>> {
        let figures = self.paper.experiments.iter();
        let figures = figures.map(|experiment| {
            let bench = Bench {
                own: &self.run,
                others: BTreeMap::new(),
                changed: None,
            };
            let claims = experiment.claims.iter().map(|claim| {
                let judged = Judged::new(experiment, claim, &bench, &experiment.scale);
                let mut judged = judged.expect("a claim of a test can be judged");
                if judged.finding.verdict == Verdict::NotReproduced {
                    judged.causes = tried(&judged.finding);
                    judged.readings = vec![read("code", &judged.finding)];
                    judged.phases = vec![read("100ns", &judged.finding)];
                }
                judged
            });
            let claims: Vec<Judged> = claims.collect();
            JudgedFigure {
                experiment,
                bias: Bias::of(&claims),
                claims,
                bench,
            }
        });
        figures.collect()
    }

    pub(crate) fn reproduction<'a>(&'a self, figures: &'a [JudgedFigure<'a>]) -> Reproduction<'a> {
        Reproduction {
            paper: &self.paper,
            figures,
            full: false,
        }
    }
}

fn read(name: &str, finding: &Finding) -> OtherReading {
    OtherReading {
        name: name.into(),
        says: format!("as {name} has it"),
        set: "tcp.sack = false".into(),
        finding: Finding {
            verdict: Verdict::Reproduced,
            ours: "47 %".into(),
            interval: None,
            ..finding.clone()
        },
    }
}

fn tried(finding: &Finding) -> Vec<TriedCause> {
    let tried = |set: &str, verdict| TriedCause {
        id: "cause".into(),
        says: "the buffer of the switch is smaller than the paper says".into(),
        set: set.into(),
        finding: Finding {
            verdict,
            ours: "38.2 %".into(),
            interval: None,
            ..finding.clone()
        },
        effect: Effect {
            explains: 2,
            breaks: 1,
        },
        over: vec!["fig1".into(), "fig2".into()],
    };
    vec![
        tried("switch.ecn_threshold = 20pkt", Verdict::NotReproduced),
        tried("switch.buffer = 40pkt", Verdict::Reproduced),
    ]
}

const PAPER: &str = r#"
title = "A paper about NAME"
citation = "A. Author, B. Author, 2017"
url = "https://example.org/paper"
notes = """
Links of 1 Gbit/s.

No seeds are stated.
"""
"#;

/// A figure with a panel of every kind except that over time, and a claim for three verdicts.
const FIGURE: &str = r#"
title = "The queue of NAME"
figure = "Fig. 1"
section = "§6.2"
scale = "3 seeds with start times within 100 us"
schemes = ["newreno", "dctcp", "rcc"]

[workload]
kind = "incast"
senders = "10..40:10"
size = "32KiB"
jitter = "100us"

[[plot]]
kind = "sweep"
title = "(a) NAME"
x = { key = "workload.senders", label = "Number of senders", range = [0, 50] }
y = { label = "Queue", unit = "KB", range = [0, 120] }
lines = [
  { measure = "queue_mean_bytes", low = "queue_p50_bytes", high = "queue_p95_bytes" },
  { measure = { model = "rcc.steady_queue" }, label = "equation 4", schemes = ["rcc"] },
]

[[plot]]
kind = "sweep"
title = "(b) Drops"
x = { key = "workload.senders", range = [0, 50] }
y = { log = true }
lines = ["drops"]

[[plot]]
kind = "cdf"
title = "(c) Completion"
at = { "workload.senders" = 40 }
lines = [{ flows = "fct_us" }]

[[plot]]
kind = "bars"
title = "(d) Goodput"
at = { "workload.senders" = 40 }
lines = ["goodput_bps"]

[[claim]]
id = "no-drops"
kind = "number"
says = "RCC drops nothing, unlike NAME"
where = "§6.2, Fig. 1(b)"
measure = "drops"
of = "rcc"
paper = 0

[[claim]]
id = "below-dctcp"
kind = "number"
says = "RCC drops 60 % less than TCP"
where = "§6.2, Fig. 1(b)"
measure = "drops"
of = "rcc"
against = "newreno"
compare = "reduction"
at = { "workload.senders" = [30, 40] }
paper = 60
unit = "%"

[[claim]]
id = "collapse"
kind = "order"
says = "TCP has the highest goodput"
where = "§6.2, Fig. 1(d)"
measure = "goodput_bps"
highest = "newreno"
at = { "workload.senders" = 40 }
"#;

/// A claim of the text, with nothing to draw.
const TEXT: &str = r#"
title = "What Linux does with NAME"
figure = "Text"
scale = "as Fig. 1"
uses = "fig1"

[[claim]]
id = "linux"
kind = "number"
says = "Linux is slower"
where = "§7"
measure = "goodput_bps"
of = "rcc"
paper = 900
unit = "Mbit/s"
untestable = "a kernel is not simulated"
"#;
