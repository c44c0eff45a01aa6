//! Papers as data: the figures of a paper, how they are drawn, and what the paper claims about them.
//!
//! A paper is a folder with a `paper.toml`, one file for each figure, [`Experiment`], and a list of its contents,
//! [`Item`]. The file of a figure is a scenario with additional tables: [`Plot`]s, [`Claim`]s, [`ExperimentChange`]s by
//! which claims are judged again, and the changes of `--full`. Plots and claims use [`Measure`]s, which are evaluated
//! from a run folder, seed by seed. A claim is judged by measurements; nothing in an experiment can decide a verdict.
//! `docs/guide/experiments.md` describes every key of a figure, `docs/guide/claims.md` every key of a claim.
//!
//! ```
//! let paper = claims::catalogue::paper("rcc").expect("a paper that comes with the program");
//! let mut figures = paper.experiments.iter();
//! let figure = figures.find(|figure| figure.name == "fig5a").expect("a figure of the paper");
//! assert_eq!(figure.id(), "rcc/fig5a");
//! assert!(!figure.claims.is_empty());
//! ```

pub mod catalogue;
mod claim;
mod columns;
mod common;
mod contents;
pub mod judge;
mod leaf;
mod measure;
mod measured;
pub mod model;
mod plot;
mod read;
mod sample;
pub mod unit;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use scenario::Source;
use serde::Deserialize;

pub use claim::{
    At, Average, Claim, ClaimKind, Clock, Compare, ExperimentChange, Number, Operand, OrderClaim,
    Rank, ShapeClaim, ShapeKind,
};
pub use contents::{Item, ReproductionState};
pub use measure::{
    ChosenFlows, Cluster, FlowSizes, FlowWeight, Measure, Moment, Name, Of, PortSelector,
    Statistic, Stretch, Weight,
};
pub use measured::{MeasureValues, MeasuredRun, Subject};
pub use plot::{PanelAxis, PanelLine, Plot, PlotKind};
pub use sample::WeightedSample;
pub use unit::Level;

/// A paper and its figures.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The name of its folder, as in `rcc`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Authors, where and when.
    pub citation: String,
    /// A link to the paper, if there is one.
    pub url: Option<String>,
    /// Facts about all of its figures: common settings, deviations, unpublished inputs.
    pub notes: Option<String>,
    /// Its sections, against which the places of claims are checked; empty if they are not listed.
    pub sections: Vec<Section>,
    /// Its figures, tables, equations and algorithms with the state of each; empty if they are not listed.
    pub contents: Vec<Item>,
    /// Its experiments, in the paper's order.
    pub experiments: Vec<Experiment>,
}

/// A section of a paper.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its number, as in `VI-A` or `6.1.2`.
    pub number: String,
    /// Its heading.
    pub title: String,
    /// The numbers of the figures whose results it describes, as in `5`.
    #[serde(default)]
    pub figures: Vec<String>,
}

/// A figure or table of a paper: its runs, plots and claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The paper's name.
    #[serde(skip)]
    pub paper: String,
    /// The name of its file, as in `fig5a`.
    #[serde(skip)]
    pub name: String,
    /// The subject, in one line.
    pub title: String,
    /// Its name in the paper, as in `Fig. 5(a)`.
    pub figure: String,
    /// The place of its description in the paper, as in `§6.2`.
    pub section: Option<String>,
    /// The scale of the runs without `--full`, in one sentence.
    pub scale: String,
    /// Notes for readers, such as a set-up that the paper leaves open.
    pub notes: Option<String>,
    /// The figure of another paper, as in `rcc/fig5a`, with the same runs. Its claims are counted there.
    pub counted_in: Option<String>,
    /// The figure of the same paper whose runs it uses, if it has no scenario.
    pub uses: Option<String>,
    /// What `--full` changes.
    #[serde(default)]
    pub full: FullScale,
    /// How it runs on real stacks, if it does.
    pub live: Option<Live>,
    /// Panels, in the arrangement of the paper.
    #[serde(skip)]
    pub plots: Vec<Plot>,
    /// The claims of the paper.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Readings of the paper by which every claim about its runs is judged. A reading that changes nothing names the
    /// experiment's own reading, which totals count.
    #[serde(skip)]
    pub readings: Vec<ExperimentChange>,
    /// Explanations to try for claims about its runs that do not reproduce.
    #[serde(skip)]
    pub causes: Vec<ExperimentChange>,
    /// The file, which also has the text of the scenario.
    #[serde(skip, default = "unread")]
    pub source: Source,
}

/// The changes of `--full`: the paper's own scale, if the default is smaller.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullScale {
    /// Seeds to run.
    pub seeds: Option<NonZeroU32>,
    /// Settings by full key, each with its texts joined by commas.
    #[serde(deserialize_with = "leaf::settings")]
    pub set: Vec<(String, String)>,
    /// The resulting scale, in one sentence.
    pub scale: Option<String>,
}

/// How a figure runs on the real stacks of a machine, scaled to the machine's capacity. Only orders and ratios are
/// judged there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The differences to the paper in size or speed, in one sentence.
    #[serde(default)]
    pub scale: String,
    /// Runs of each scheme.
    #[serde(default = "live_runs")]
    pub runs: NonZeroU32,
    /// The kind of network between the hosts.
    #[serde(default)]
    pub bed: Bed,
    /// The rate of the fastest link; `None` for the fastest that the machine sustains.
    pub rate: Option<String>,
    /// Settings by full key, each with its texts joined by commas.
    #[serde(default, deserialize_with = "leaf::settings")]
    pub set: Vec<(String, String)>,
    /// Names of the claims that are judged.
    pub claims: Vec<String>,
}

/// The kind of network between the hosts of a figure on real stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bed {
    /// A network of the kernel, with the kernel's TCP at all hosts.
    #[default]
    Namespaces,
    /// A TUN device: our TCP sends, the kernel's receives, and a process adds the delay.
    Tun,
}

/// A source for an experiment of which only the table has been read.
fn unread() -> Source {
    Source::new("", "")
}

/// The number of runs that suffices for an interval.
const fn live_runs() -> NonZeroU32 {
    NonZeroU32::new(5).expect("five is not zero")
}

impl Paper {
    /// Whether `figure`, or another figure that reads its runs, may measure the parts of completion times.
    pub fn measures_parts(&self, figure: &Experiment) -> bool {
        let reads = |other: &Experiment| {
            other.shares_runs(figure)
                || other.references().iter().any(|name| {
                    let mut all = self.experiments.iter();
                    all.any(|named| named.name == *name && named.shares_runs(figure))
                })
        };
        let mut readers = self.experiments.iter().filter(|other| reads(other));
        readers.any(Experiment::measures_parts)
    }
}

impl Experiment {
    /// The name by which it is run, as in `rcc/fig5a`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.paper, self.name)
    }

    /// The figure whose runs it uses: itself, unless `uses` names another.
    pub fn runs(&self) -> &str {
        self.uses.as_deref().unwrap_or(&self.name)
    }

    /// Whether one of its claims or plots may measure the parts of completion times, because its text contains the name
    /// of such a metric or column, or of the setting that records them.
    fn measures_parts(&self) -> bool {
        let text = self.source.text();
        let mut names = sim::breakdown::Part::ALL
            .into_iter()
            .map(sim::breakdown::Part::name);
        text.contains("breakdown")
            || names.any(|name| {
                let names = [format!("_{name}_us"), format!("{name}_ps")];
                names.iter().any(|name| text.contains(name))
            })
    }

    /// Whether its claims and plots use the runs of `other`.
    pub fn shares_runs(&self, other: &Self) -> bool {
        self.runs() == other.runs()
    }

    /// Other figures to whose runs its plots and claims refer.
    pub fn references(&self) -> BTreeSet<&str> {
        let plots = self.plots.iter().filter_map(|plot| plot.run.as_deref());
        let operands = self.claims.iter().flat_map(|claim| claim.kind.operands());
        let runs = operands.filter_map(|operand| operand.run.as_deref());
        plots.chain(runs).collect()
    }
}

/// The keys of a figure's file that do not belong to its scenario.
pub const KEYS: [&str; 14] = [
    "common",
    "values",
    "figure",
    "section",
    "scale",
    "notes",
    "uses",
    "counted_in",
    "full",
    "live",
    "plot",
    "claim",
    "reading",
    "cause",
];
