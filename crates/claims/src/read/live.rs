//! Reading how a figure runs on real stacks.

use std::num::NonZeroU32;

use base::{Quantity, Rate};

use super::fields::{Fields, Reader, Word};
use crate::{Claim, ClaimKind, Compare, Live, Measure, Of, ShapeKind};

impl Reader<'_> {
    /// The table `[live]`, if there is one, whose claims are among `claims`.
    pub(super) fn live(&mut self, fields: &Fields<'_>, claims: &[Claim]) -> Option<Live> {
        let fields = self.table(fields, "live")?;
        self.only(&fields, &["scale", "runs", "rate", "set", "claims"]);
        if !fields.has("claims") {
            self.missing(&fields, "claims");
        }
        let named = self.words(&fields, "claims");
        for word in &named {
            match claims.iter().find(|claim| claim.id == word.text) {
                Some(claim) => self.judged_live(claim, word),
                None => self.unknown("claim", word, claims.iter().map(|claim| claim.id.as_str())),
            }
        }
        let runs = self.whole(&fields, "runs").and_then(NonZeroU32::new);
        let rate = self.text(&fields, "rate");
        if let Some(word) = &rate
            && let Err(error) = Rate::parse(&word.text)
        {
            self.wrong(
                error.to_string(),
                word.place.clone(),
                "a rate, as in 100Mbps",
            );
        }
        Some(Live {
            scale: self.required_text(&fields, "scale"),
            runs: runs.unwrap_or(RUNS),
            rate: rate.map(|word| word.text),
            set: self.settings(&fields, "set"),
            claims: named.into_iter().map(|word| word.text).collect(),
        })
    }

    /// Complains of a claim that says nothing on another machine than the paper's, or about what no kernel tells. Of one
    /// that cannot be tested the number is shown all the same.
    fn judged_live(&mut self, claim: &Claim, word: &Word) {
        if !is_relative(claim) && claim.untestable.is_none() {
            let message = format!("{} is a number of the paper's own machines", claim.id);
            let expected =
                "an order, a ratio or a level in packets: on other machines only these are judged";
            self.wrong(message, word.place.clone(), expected);
        }
        let operands = claim.kind.operands();
        if operands.iter().any(|operand| operand.run.is_some()) {
            let message = format!("{} compares with another figure", claim.id);
            self.wrong(
                message,
                word.place.clone(),
                "a claim about the runs of this figure alone",
            );
        }
        let unknown = operands.iter().find(|operand| !is_known(&operand.measure));
        if let Some(operand) = unknown {
            let column = operand.measure.column();
            let message = format!("{} is about {column}, which Linux does not tell", claim.id);
            let mut all = METRICS.to_vec();
            all.extend(FLOWS);
            self.wrong(
                message,
                word.place.clone(),
                &format!("one about {}", all.join(", ")),
            );
        }
    }
}

/// Whether a claim is about an order or a ratio, or a level of a queue, which is a share of its buffer.
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
            | ShapeKind::Reaches(level) => ["pkt", "packets"].contains(&level.unit.as_str()),
            _ => true,
        },
    }
}

/// Whether a test bed has what is measured.
fn is_known(measure: &Measure) -> bool {
    match &measure.of {
        Of::Metric(name) => METRICS.contains(name),
        Of::Flows { column, .. } => FLOWS.contains(column),
        Of::Model { .. } => true,
        Of::Ports { .. } | Of::Series { .. } | Of::Events { .. } => false,
    }
}

/// Enough for an interval.
const RUNS: NonZeroU32 = NonZeroU32::new(5).expect("five is not zero");

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

/// What Linux tells of a flow.
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
    crate::measure::THROUGHPUT,
    crate::measure::GOODPUT,
];
