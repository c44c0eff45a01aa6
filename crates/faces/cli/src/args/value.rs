//! Values of options, read from the texts that a user types.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use api::{Causes, Shard};
use base::cast::whole;
use base::{Count, Quantity, WireSize};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Length;

pub(super) fn seed(text: &str) -> Result<u64, String> {
    u64::parse(text).map_err(|error| error.to_string())
}

/// Parses a number of orders of simultaneous events.
pub(super) fn orders(text: &str) -> Result<NonZeroU32, String> {
    let count = text
        .parse()
        .ok()
        .filter(|count| (2..=MOST_ORDERS).contains(count));
    count.and_then(NonZeroU32::new).ok_or_else(|| {
        format!(
            "expected a whole number from 2 to {MOST_ORDERS}: one order tells nothing about others"
        )
    })
}

pub(super) fn seeds(text: &str) -> Result<NonZeroU32, String> {
    let count = Count::parse(text).map_err(|error| error.to_string())?;
    NonZeroU32::new(count.0).ok_or_else(Count::expected)
}

pub(super) fn length(text: &str) -> Result<Length, String> {
    let units = [("cm", 1.0), ("mm", 0.1), ("in", 2.54)];
    let found = units.iter().find_map(|(unit, size)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * size)
    });
    found
        .filter(|length| (MIN_CM..=MAX_CM).contains(length))
        .map(Length)
        .ok_or_else(|| {
            format!("expected a length from {MIN_CM}cm to {MAX_CM}cm, as in 8.5cm or 3.4in")
        })
}

pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = text
        .parse::<NonZeroUsize>()
        .ok()
        .filter(|jobs| jobs.get() <= MAX_JOBS);
    number.ok_or_else(|| format!("expected a number of threads from 1 to {MAX_JOBS}"))
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    if let Some(rest) = text.strip_prefix("auto") {
        let count = rest.strip_prefix('/');
        return shard_of_job(count, &|name| std::env::var(name).ok());
    }
    let number = |text: &str| text.trim().parse().ok();
    let parts = text.split_once('/');
    let shard = parts.and_then(|(i, n)| Shard::new(number(i)?, number(n)?));
    shard
        .ok_or_else(|| "expected I/N with I from 1 to N, as in 1/8, or auto in an array job".into())
}

/// The shard of an array job, from the variables that its batch system sets; `count` is the number of jobs, if given.
fn shard_of_job(
    count: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Shard, String> {
    let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
    let found = JOBS.iter().find_map(|job| Some((job, number(job.index)?)));
    let (job, index) = found.ok_or_else(|| {
        let names = JOBS.map(|job| job.index);
        format!(
            "this is not an array job: none of {} is set",
            names.join(", ")
        )
    })?;
    let least = job.least.map_or(Some(0), number).unwrap_or(0);
    let step = job.step.and_then(number).unwrap_or(1).max(1);
    let count = match count {
        Some(count) => count.trim().parse().ok(),
        None => job.count.and_then(number),
    };
    let count = count.ok_or_else(|| {
        let name = job.index;
        format!("{name} does not say how many jobs there are: expected auto/N, as in auto/16")
    })?;
    let place = index.checked_sub(least).map(|place| place / step + 1);
    let shard = place.and_then(|place| Shard::new(place, count));
    shard.ok_or_else(|| {
        let (name, last) = (job.index, u64::from(least) + u64::from(count.saturating_sub(1)) * u64::from(step));
        format!("{name} is {index}, but the indices of {count} jobs go from {least} to {last}: make an array without gaps")
    })
}

/// The variables of a batch system.
#[derive(Clone, Copy)]
struct ArrayJob {
    /// The index of this job.
    index: &'static str,
    /// The smallest index; 0 without it.
    least: Option<&'static str>,
    /// The step from one index to the next; 1 without it.
    step: Option<&'static str>,
    /// The number of jobs.
    count: Option<&'static str>,
}

impl ArrayJob {
    /// A batch system that counts from 0 and does not tell the number of jobs.
    const fn from_zero(index: &'static str) -> Self {
        Self {
            index,
            least: None,
            step: None,
            count: None,
        }
    }
}

/// Variables of Slurm (`sbatch`, "Output environment variables"), Kubernetes (Indexed Job), AWS Batch, `HyperQueue` and PBS.
const JOBS: [ArrayJob; 5] = [
    ArrayJob {
        index: "SLURM_ARRAY_TASK_ID",
        least: Some("SLURM_ARRAY_TASK_MIN"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        count: Some("SLURM_ARRAY_TASK_COUNT"),
    },
    ArrayJob::from_zero("JOB_COMPLETION_INDEX"),
    ArrayJob::from_zero("AWS_BATCH_JOB_ARRAY_INDEX"),
    ArrayJob::from_zero("HQ_TASK_ID"),
    ArrayJob::from_zero("PBS_ARRAY_INDEX"),
];

/// Parses the claims for which causes are searched.
pub(super) fn causes() -> impl TypedValueParser<Value = Causes> {
    let all = [
        ("missed", "Only claims that are not reproduced"),
        ("all", "All claims"),
        ("none", "No claim, which is fastest"),
    ];
    let values = all.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "all" => Causes::All,
        "none" => Causes::None,
        _ => Causes::Missed,
    })
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>();
    let number = number
        .ok()
        .filter(|percent| *percent > 0.0 && *percent < 100.0);
    number
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "expected a percentage between 0 and 100, as in 5%".into())
}

pub(super) fn watch(text: &str) -> Result<Duration, String> {
    lease(text).map_err(|_| "expected a time from 1s to 30d, as in 90s, 10m or 2h".into())
}

pub(super) fn period(text: &str) -> Result<Duration, String> {
    let found = lease(text).ok().filter(|period| *period <= LONGEST_PERIOD);
    found.ok_or_else(|| "expected a time from 1s to 1d, as in 30s or 2m".into())
}

pub(super) fn lease(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
    let found = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*seconds)
    });
    found
        .filter(|seconds| (1..=LONGEST_LEASE).contains(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| {
            "expected a time from 1s to 30d, as in 90s, 10m or 2h; --permanent has no end".into()
        })
}

pub(super) fn steps(text: &str) -> Result<u64, String> {
    let steps: Option<f64> = text.trim().parse().ok();
    match steps {
        Some(steps) if steps >= 1.0 => Ok(whole(steps)),
        _ => Err("expected a number of at least 1, as in 1e12".into()),
    }
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    // Memory has no packets: 0 bytes each.
    let bytes = WireSize::parse(text).map_or(0, |size| size.in_bytes(0));
    (bytes > 0)
        .then_some(bytes)
        .ok_or_else(|| format!("expected bytes with their unit, as in 8GB; found {text:?}"))
}

/// Shorter axes leave no room for data; longer ones fit no printer.
const MIN_CM: f64 = 4.0;
const MAX_CM: f64 = 60.0;

/// A trial of a dozen such periods takes two weeks.
const LONGEST_PERIOD: Duration = Duration::from_hours(24);

/// Seconds of 30 days; for longer there is `--permanent`.
const LONGEST_LEASE: u64 = 30 * 86_400;

/// More than the cores of any machine.
const MAX_JOBS: usize = 4096;

/// The most orders that are compared. A few are enough to show whether anything depends on them.
const MOST_ORDERS: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_an_array_knows_its_shard_wherever_indices_begin() {
        let of = |count: Option<&str>, set: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(own, _)| *own == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            shard_of_job(count, &variable)
        };
        let slurm = |id, least, step| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", least),
                ("SLURM_ARRAY_TASK_STEP", step),
                ("SLURM_ARRAY_TASK_COUNT", "10"),
            ]
        };
        let shard = |place| Ok(Shard::new(place, 10).expect("a shard"));
        assert_eq!(of(None, &slurm("0", "0", "1")), shard(1), "--array=0-9");
        assert_eq!(of(None, &slurm("10", "1", "1")), shard(10), "--array=1-10");
        assert_eq!(
            of(None, &slurm("18", "0", "2")),
            shard(10),
            "--array=0-18:2"
        );
        for name in [
            "JOB_COMPLETION_INDEX",
            "AWS_BATCH_JOB_ARRAY_INDEX",
            "HQ_TASK_ID",
            "PBS_ARRAY_INDEX",
        ] {
            assert_eq!(of(Some("10"), &[(name, "9")]), shard(10), "{name}");
            let why = of(None, &[(name, "9")]).expect_err("nobody says how many");
            assert!(why.contains("auto/N"), "{why}");
            let why = of(Some("10"), &[(name, "10")]).expect_err("beyond the last");
            assert!(why.contains("from 0 to 9"), "{why}");
        }
        let why = of(None, &[]).expect_err("no job");
        assert!(why.contains("SLURM_ARRAY_TASK_ID"), "{why}");
    }

    #[test]
    fn leases_have_units_and_an_end() {
        assert_eq!(lease("10m"), Ok(Duration::from_mins(10)));
        assert_eq!(lease("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["10", "0s", "31d", "10ms", "-1h", "99999999999999999999d"] {
            assert!(lease(wrong).is_err(), "{wrong}");
        }
    }
}
