//! Reads how a figure runs on real stacks.

use std::mem;

use base::{Quantity, Rate};
use scenario::Problem;

use super::reader::Reader;
use super::tree::Site;
use crate::columns::{GOODPUT, THROUGHPUT};
use crate::{
    At, Bed, Claim, ClaimKind, Compare, Experiment, Live, Measure, Of, PortSelector, ShapeKind,
    Statistic,
};

impl Reader<'_> {
    /// Checks the table `[live]` of a figure, whose claims are among `claims`. If the figure `uses` the runs of
    /// another, the table may only list claims.
    pub(super) fn live(
        &mut self,
        live: &Live,
        site: Site<'_>,
        claims: &[Claim],
        uses: Option<&str>,
    ) {
        for (name, written) in live.claims.iter().zip(site.key("claims").items()) {
            if let Some(claim) = claims.iter().find(|claim| claim.id == *name) {
                self.judged_live(claim, written);
            } else {
                let known = claims.iter().map(|claim| claim.id.as_str());
                self.unknown("claim", (name, written.place()), known);
            }
        }
        if let Some(used) = uses {
            for (name, place, _) in site.entries() {
                if name != "claims" {
                    let message = format!("{name} cannot be combined with `uses`");
                    self.wrong(
                        message,
                        place,
                        &format!("only claims: everything else is taken from {used}"),
                    );
                }
            }
            return;
        }
        if live.scale.is_empty() {
            self.missing("live", "scale", site.place());
        }
        self.settings(site.key("set"));
        let place = site.key("rate").place();
        match live.rate.as_deref().map(Rate::parse) {
            Some(_) if live.bed == Bed::Tun => {
                let message = "a TUN device has the rate of the scenario";
                self.wrong(message, place, "link.rate in set");
            }
            Some(Err(error)) => self.wrong(error.to_string(), place, "a rate, as in 100Mbps"),
            _ => {}
        }
    }

    /// Reports a claim that makes no sense on another machine than the paper's, or that needs data no kernel reports.
    /// For a claim that cannot be tested, the number is still shown.
    fn judged_live(&mut self, claim: &Claim, written: Site<'_>) {
        if !is_relative(claim) && claim.untestable.is_none() {
            let message = format!("{} is a number of the paper's own machines", claim.id);
            let expected =
                "an order, a ratio or a level in packets: on other machines only these are judged";
            self.wrong(message, written.place(), expected);
        }
        let operands = claim.kind.operands();
        if operands.iter().any(|operand| operand.run.is_some()) {
            let message = format!("{} compares with another figure", claim.id);
            self.wrong(
                message,
                written.place(),
                "a claim about the runs of this figure alone",
            );
        }
        let unknown = operands.iter().find(|operand| !is_known(&operand.measure));
        if let Some(operand) = unknown {
            let column = operand.measure.column();
            let message = format!("{} is about {column}, which Linux does not tell", claim.id);
            let mut all = METRICS.to_vec();
            all.extend(FLOWS);
            all.extend(SERIES);
            all.extend(LOSSES);
            self.wrong(
                message,
                written.place(),
                &format!("one about {}", all.join(", ")),
            );
        }
    }
}

/// Gives figures that use the runs of another figure its scale. Reports an error if that figure does not run on real
/// stacks, or if claims name values that its settings do not have there.
pub(super) fn inherit(experiments: &mut [Experiment]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let all: Vec<(String, Option<Live>)> = (experiments.iter())
        .map(|other| (other.name.clone(), other.live.clone()))
        .collect();
    for experiment in experiments {
        let id = experiment.id();
        let Some(live) = &mut experiment.live else {
            continue;
        };
        if let Some(used) = &experiment.uses {
            let found = all.iter().find(|(name, _)| name == used);
            let Some(other) = found.and_then(|(_, live)| live.clone()) else {
                let problem = Problem::new(format!("{id} is judged live, and {used} does not run"));
                problems.push(problem.help(format!("a table [live] in the file of {used}")));
                continue;
            };
            let claims = mem::take(&mut live.claims);
            *live = Live { claims, ..other };
        }
        let judged = experiment.claims.iter();
        for claim in judged.filter(|claim| live.claims.contains(&claim.id)) {
            if let Some(key) = missed(claim, live) {
                let problem = format!(
                    "{id}/{} needs a value of {key} that is not emulated",
                    claim.id
                );
                let help = format!("the table [live] sets {key} to others: name other claims");
                problems.push(Problem::new(problem).help(help));
            }
        }
    }
    problems
}

/// A setting for which a claim names a value that real stacks do not run.
fn missed<'a>(claim: &Claim, live: &'a Live) -> Option<&'a str> {
    let operands = claim.kind.operands();
    let of_operands = operands.iter().map(|operand| &operand.at);
    let all: Vec<&At> = [&claim.at, &claim.except]
        .into_iter()
        .chain(of_operands)
        .collect();
    let mut set = live.set.iter();
    let found = set.find(|(key, text)| {
        let values: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut named = all.iter().flat_map(|at| at.iter());
        named.any(|(own, texts)| {
            own == key && texts.iter().any(|text| !values.contains(&text.as_str()))
        })
    });
    found.map(|(key, _)| key.as_str())
}

/// Whether a claim is about an order or a ratio, or about a level that does not depend on the machine: a queue (a share
/// of its buffer), a share, or fairness.
fn is_relative(claim: &Claim) -> bool {
    match &claim.kind {
        ClaimKind::Order(_) => true,
        ClaimKind::Number(number) => {
            !matches!(number.compare, Compare::Value | Compare::Difference)
        }
        ClaimKind::Shape(shape) => match &shape.shape {
            ShapeKind::Above(level)
            | ShapeKind::Below(level)
            | ShapeKind::Near(level)
            | ShapeKind::Reaches(level) => {
                let mut operands = claim.kind.operands().into_iter();
                ["pkt", "packets"].contains(&level.unit.as_str())
                    || operands.all(|operand| is_share(&operand.measure))
            }
            _ => true,
        },
    }
}

/// Whether the measure is a share of a whole or an index of fairness.
fn is_share(measure: &Measure) -> bool {
    let statistic = measure.statistic.as_ref();
    statistic
        .is_some_and(|statistic| matches!(statistic, Statistic::Share { .. } | Statistic::Jain))
}

/// Whether a test bed provides the measure.
fn is_known(measure: &Measure) -> bool {
    match &measure.of {
        Of::Metric(name) => METRICS.contains(name),
        Of::Flows { column, .. } => FLOWS.contains(column),
        Of::Series {
            column,
            place,
            apart_from,
            ..
        } => {
            let mut columns = [Some(*column), *apart_from].into_iter().flatten();
            columns.all(|column| SERIES.contains(&column)) && *place == PortSelector::default()
        }
        Of::Events { kinds, group } => {
            group.is_none() && kinds.iter().all(|kind| LOSSES.contains(kind))
        }
        Of::Model { .. } => true,
        Of::Ports { .. } => false,
    }
}

/// What Linux tells of a run.
const METRICS: [&str; 20] = [
    "goodput_bps",
    "fct_mean_us",
    "fct_p50_us",
    "fct_p95_us",
    "fct_p99_us",
    "fct_max_us",
    "timeouts",
    "syn_timeouts",
    "timeout_rate",
    "retransmissions",
    "packets",
    "fairness",
    "drops",
    "queue_mean_bytes",
    "queue_p5_bytes",
    "queue_p50_bytes",
    "queue_p95_bytes",
    "queue_max_bytes",
    "flows_completed",
    "flows_unfinished",
];

/// Columns of flows that Linux reports.
const FLOWS: [&str; 12] = [
    "fct_us",
    "start_us",
    "completion_us",
    "received_bytes",
    "size_bytes",
    "packets",
    "retransmissions",
    "timeouts",
    "syn_timeouts",
    "late",
    THROUGHPUT,
    GOODPUT,
];

/// Series that Linux reports: the queue of the bottleneck, and bytes read by receivers.
const SERIES: [&str; 2] = ["queue_bytes", THROUGHPUT];

/// Events of senders that Linux reports over time.
const LOSSES: [&str; 2] = ["fast_retransmit", "timeout"];
