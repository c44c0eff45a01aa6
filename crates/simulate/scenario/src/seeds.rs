//! The number of seeds of a scenario, and whether seeds make a difference.

use std::num::NonZeroU32;

use base::Quantity;

use crate::arms::Arm;
use crate::resolve::Resolver;
use crate::values::Value;
use crate::{Problem, Problems, Source};
use plan::PointSpec;

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

/// Every point, with the given number of seeds or, if anything is random, the usual number.
pub(super) fn points(
    resolver: &Resolver,
    arms: &[Arm],
    seed: u64,
    (wanted, usual): (Option<u32>, Option<NonZeroU32>),
) -> Result<Vec<PointSpec>, Problems> {
    let points = resolver.points(arms, seed, wanted.unwrap_or(1))?;
    match usual {
        Some(usual) if wanted.is_none() && points.iter().any(PointSpec::is_random) => {
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
