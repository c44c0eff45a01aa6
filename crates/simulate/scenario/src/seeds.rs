//! How many seeds a scenario has, and whether they make a difference.

use std::num::NonZeroU32;

use base::{Quantity, Span};

use crate::arms::Arm;
use crate::keys::{Ecmp, LossPattern, TopologyKind, WorkloadKind};
use crate::resolve::Resolver;
use crate::values::Value;
use crate::{Group, PointSpec, Problem, Problems, Source};

pub(super) fn read_seed<T: Quantity>(
    source: &Source,
    name: &str,
    value: Option<&Value>,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let value = value?;
    T::parse(&value.text)
        .map_err(|error| {
            let problem = Problem::new(format!("wrong value for {name}: {error}"))
                .at(source, value.place.clone(), "wrong value")
                .help(format!("as in {name} = 10"));
            problems.push(problem);
        })
        .ok()
}

/// Every point, with the seeds that somebody wants or, where anything is random, the usual ones.
pub(super) fn points(
    resolver: &Resolver,
    arms: &[Arm],
    seed: u64,
    (wanted, usual): (Option<u32>, Option<NonZeroU32>),
) -> Result<Vec<PointSpec>, Problems> {
    let points = resolver.points(arms, seed, wanted.unwrap_or(1))?;
    match usual {
        Some(usual) if wanted.is_none() && points.iter().any(is_random) => {
            resolver.points(arms, seed, usual.get())
        }
        _ => Ok(points),
    }
}

/// How many seeds each row of points has.
pub(super) fn seeds_of(points: &[PointSpec]) -> u32 {
    let first = |point: &&PointSpec| point.seed == points[0].seed;
    let rows = points.iter().filter(first).count().max(1);
    u32::try_from(points.len() / rows).unwrap_or(u32::MAX)
}

pub(super) fn unused_seeds(points: &[PointSpec], seeds: u32) -> Option<Problem> {
    if seeds < 2 || points.iter().any(is_random) {
        return None;
    }
    let problem = Problem::warning(format!(
        "nothing in this scenario is random, so {seeds} seeds give {seeds} times the same result"
    ));
    Some(problem.help(
        "let packets of hosts be late by random times, as in link.jitter=auto: random starts alone leave senders in step",
    ))
}

/// Whether anything in `point` is drawn from its seed that a result depends on. The order of events at
/// the same instant is, if anything else is; see [`PointSpec::order_seed`]. It is under a trace, too: what was
/// observed was random once, and with the seed of a run its trace gives the same result again.
pub(super) fn is_random(point: &PointSpec) -> bool {
    let topology = &point.keys.topology;
    let several_paths = match topology.kind {
        TopologyKind::LeafSpine => topology.spines.0 > 1,
        TopologyKind::FatTree | TopologyKind::Graph => true,
        TopologyKind::Star | TopologyKind::Dumbbell | TopologyKind::Chain | TopologyKind::Tree => {
            false
        }
    };
    let paths = several_paths && topology.spread() != Ecmp::Off;
    let bottleneck = &point.keys.bottleneck;
    let shares = [
        bottleneck.ack_loss,
        bottleneck.reordering,
        bottleneck.duplication,
        point.keys.switch.loss,
    ];
    let links = bottleneck.loss.0 > 0.0 && bottleneck.loss_pattern == LossPattern::Random
        || shares.iter().any(|share| share.0 > 0.0)
        || topology.exceptions.0.iter().any(|one| one.own.loss.0 > 0.0)
        || point.keys.link.jitter.0 != Some(Span::ZERO);
    let drawn = |group: &Group| {
        let workload = &group.keys.workload;
        matches!(workload.kind, WorkloadKind::Poisson | WorkloadKind::Trace)
            || workload.jitter > Span::ZERO
            || workload
                .delay
                .0
                .map_or(workload.kind == WorkloadKind::Burst, |law| law.is_random())
            || workload.size.is_random()
            || group.roles().random
    };
    paths || links || point.groups.iter().any(drawn)
}
