//! `summary.json`: all numbers of a sweep except those of single flows and ports.

use indexmap::IndexMap;
use plan::PointSpec;
use plan::metric::{is_of_faults, is_of_rounds, is_of_shared_buffers};
use scenario::Scenario;
use scenario::goal::Goal;
use serde::{Deserialize, Serialize};
use sim::columns::{METRICS, metric_values};
use sim::metrics::{CollectiveMetrics, GroupMetrics, Metrics, TierMetrics};

use crate::collectives;
use crate::comparison::{self, Comparison, Groups};
use crate::goals::Goals;
use crate::point_result::{PointResult, PointResults};
use crate::row::{Row, Rows, Waits};
use crate::statistics::Estimate;
use crate::tiers;
use crate::ties::Ties;

/// A sweep in numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Version of the program.
    pub version: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The subject of the scenario, in one line.
    pub title: Option<String>,
    /// Labels of its schemes.
    pub schemes: Vec<String>,
    /// First seed.
    pub seed: u64,
    /// Seeds of every row.
    pub seeds: u32,
    /// Whether anything in the scenario depends on the seed.
    pub random: bool,
    /// Swept settings, in the order of the sweep: the first changes slowest.
    pub axes: Vec<String>,
    /// Other settings shown in results, with their values.
    pub constants: Vec<(String, String)>,
    /// Changes made to traces before they were simulated, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Combinations of swept values times schemes; schemes change fastest.
    pub rows: Vec<Row>,
    /// Pairs of schemes within a combination, compared on the same seeds: all flows, then every group and class.
    pub comparisons: Vec<Comparison>,
    /// The goals and the distance of every row from them, if the scenario has goals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<Goals>,
    /// The setting and the range of its values that were searched, if any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// The precision that `--until` reached, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Results under several orders of simultaneous events, if `--ties` asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<Ties>,
    /// Every simulation that has results.
    pub points: Vec<PointSummary>,
    /// Every simulation that failed.
    pub failures: Vec<FailedPoint>,
    /// XXH64 of the run's other files, by their paths. Only files that are functions of the scenario and the version.
    #[serde(default)]
    pub checksums: IndexMap<String, String>,
}

/// How far `--until` went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The metric whose confidence intervals are watched.
    pub metric: String,
    /// Wanted half-width of the 95 % confidence interval over the mean.
    pub target: f64,
    /// The widest such half-width of all rows; `None` if a row has no interval.
    pub widest: Option<f64>,
    /// Most seeds allowed.
    pub bound: u32,
    /// Whether every row is as narrow as wanted.
    pub reached: bool,
}

/// The numbers of one simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PointSummary {
    /// Its number.
    pub point: u32,
    /// Place of its row in [`Summary::rows`].
    pub row: u32,
    /// Its seed.
    pub seed: u64,
    /// Results.
    pub metrics: Metrics,
    /// Results of each group of flows, if the scenario has groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupMetrics>,
    /// Every tier of ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierMetrics>,
    /// Nodes that wait for each other for good, as in `switch 0 -> switch 1 -> switch 0`; empty without a deadlock.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub deadlock: String,
    /// The collectives of each group that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveMetrics>,
    /// Simulated time at its end.
    pub simulated_us: f64,
    /// Packets sent over links; a packet counts once for each link.
    pub packet_hops: u64,
    /// Events the scheduler handled.
    pub events: u64,
    /// Digest of all events, in hexadecimal.
    pub digest: String,
}

/// A simulation without results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedPoint {
    /// Its number.
    pub point: u32,
    /// Place of its row in [`Summary::rows`].
    pub row: u32,
    /// Its seed.
    pub seed: u64,
    /// The error.
    pub error: String,
    /// The command that repeats the failure, from within the run folder.
    pub reproduce: String,
}

impl Summary {
    /// The summary of `results`, one for each point of `scenario`. O(points + rows × schemes).
    pub fn new(scenario: &Scenario, results: &PointResults) -> Self {
        let mut summary = Self {
            version: crate::identity::version(scenario),
            scenario: scenario.name().to_owned(),
            title: scenario.title().map(str::to_owned),
            schemes: scenario.schemes().into_iter().map(str::to_owned).collect(),
            seed: scenario.points()[0].seed,
            seeds: scenario.seeds(),
            random: scenario.is_random(),
            axes: Vec::new(),
            constants: Vec::new(),
            notes: scenario.notes(),
            rows: Vec::new(),
            comparisons: Vec::new(),
            goals: None,
            search: scenario.search().map(str::to_owned),
            until: None,
            ties: None,
            points: Vec::new(),
            failures: Vec::new(),
            checksums: IndexMap::new(),
        };
        for (index, (key, value)) in scenario.points()[0].set.iter().enumerate() {
            let mut points = scenario.points().iter();
            if points.all(|point| point.set[index].1 == *value) {
                summary.constants.push((key.clone(), value.clone()));
            } else {
                summary.axes.push(key.clone());
            }
        }
        summary.constants.extend(profile(scenario));
        summary.add_points(scenario, results);
        let seeds = scenario.seeds() as usize;
        let values: Vec<Vec<Vec<f64>>> = results.chunks(seeds).map(columns).collect();
        summary.add_rows(scenario, &values);
        let groups: Vec<Groups> = results.chunks(seeds).map(comparison::by_group).collect();
        for ((row, groups), results) in summary
            .rows
            .iter_mut()
            .zip(&groups)
            .zip(results.chunks(seeds))
        {
            row.groups = group_estimates(groups);
            let seeds = results.iter().flatten();
            row.tiers = tiers::over_seeds(seeds.clone().map(|result| result.tiers.as_slice()));
            let seeds = seeds.map(|result| result.collectives.as_slice());
            row.collectives = collectives::over_seeds(seeds);
        }
        let schemes = scenario.schemes().len();
        let combinations = summary.rows.chunks(schemes);
        let values = values.chunks(schemes).zip(groups.chunks(schemes));
        let compared = combinations.zip(values);
        summary.comparisons = compared
            .flat_map(|(rows, values)| comparison::compare(rows, values, summary.random))
            .collect();
        summary.judge(scenario.goals());
        summary
    }

    /// The summary of an unfinished sweep: only the groups of rows with a known point, and those points. `None` if no
    /// point is known.
    pub fn so_far(
        scenario: &Scenario,
        known: Vec<Option<Result<PointResult, String>>>,
    ) -> Option<(Self, PointResults)> {
        let (schemes, seeds) = (scenario.schemes().len(), scenario.seeds() as usize);
        let begun: Vec<bool> = known
            .chunks(schemes * seeds)
            .map(|group| group.iter().any(Option::is_some))
            .collect();
        if !begun.contains(&true) {
            return None;
        }
        let are_known: Vec<bool> = known.iter().map(Option::is_some).collect();
        let absent = || Err(String::new());
        let results: PointResults = known
            .into_iter()
            .map(|known| known.unwrap_or_else(absent))
            .collect();
        let mut all = Self::new(scenario, &results);
        let is_known = |point: u32| are_known[point as usize];
        all.failures.retain(|failure| is_known(failure.point));
        all.rows = kept(all.rows, schemes, &begun);
        all.comparisons = comparison::kept(all.comparisons, &all.rows);
        // Rows of groups that have not begun are dropped, so later rows get other numbers.
        let gone = |row: u32| {
            begun[..row as usize / schemes]
                .iter()
                .filter(|begun| !**begun)
        };
        let place = |row: u32| row - index(gone(row).count() * schemes);
        for point in &mut all.points {
            point.row = place(point.row);
        }
        for failure in &mut all.failures {
            failure.row = place(failure.row);
        }
        all.judge(scenario.goals());
        let results = results.into_iter().zip(are_known);
        let results = results.filter_map(|(result, known)| known.then_some(result));
        Some((all, results.collect()))
    }

    /// The precision of every row: of the 99th percentile of completion times, or of the mean queue if no flow has an
    /// end.
    pub fn precision(&self, target: f64, bound: u32) -> Until {
        let timed = self
            .rows
            .iter()
            .any(|row| !row.value("fct_p99_us").is_nan());
        let metric = if timed {
            "fct_p99_us"
        } else {
            "queue_mean_bytes"
        };
        let widths = self
            .rows
            .iter()
            .map(|row| row.metrics[metric].relative_half_width());
        let widest = widths.collect::<Option<Vec<f64>>>();
        let widest = widest.map(|widths| widths.into_iter().fold(0.0, f64::max));
        Until {
            metric: metric.to_owned(),
            target,
            widest,
            bound,
            reached: widest.is_some_and(|widest| widest <= target),
        }
    }

    /// Rows in groups that differ only in the scheme.
    pub fn groups(&self) -> impl Iterator<Item = &[Row]> {
        self.rows.chunks(self.schemes.len())
    }

    /// Whether every row is mostly idle.
    pub fn is_mostly_idle(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(Row::is_mostly_idle)
    }

    /// Judges every row by `goals`, in place of its previous goals.
    pub fn judge(&mut self, goals: &[Goal]) {
        self.goals = Goals::judge(goals, &self.as_rows());
    }

    /// Its rows, with the settings in which they differ.
    pub(super) fn as_rows(&self) -> Rows<'_> {
        Rows {
            all: &self.rows,
            schemes: &self.schemes,
            axes: &self.axes,
            random: self.random,
        }
    }

    fn add_points(&mut self, scenario: &Scenario, results: &PointResults) {
        for (point, result) in scenario.points().iter().zip(results) {
            let (number, row) = (index(point.index), index(point.index) / scenario.seeds());
            match result {
                Ok(result) => self.points.push(PointSummary {
                    point: number,
                    row,
                    seed: point.seed,
                    metrics: result.metrics.clone(),
                    groups: result.groups.clone(),
                    tiers: result.tiers.clone(),
                    deadlock: result.deadlock.clone(),
                    collectives: result.collectives.clone(),
                    simulated_us: result.cost.simulated_us,
                    packet_hops: result.cost.packet_hops,
                    events: result.cost.events,
                    digest: format!("{:016x}", result.digest),
                }),
                Err(error) => {
                    let axes = point.set.iter().filter(|(key, _)| self.axes.contains(key));
                    let sets = axes.map(|(key, value)| format!(" --set {key}={value}"));
                    self.failures.push(FailedPoint {
                        point: number,
                        row,
                        seed: point.seed,
                        error: error.clone(),
                        reproduce: format!(
                            "tailwater run scenario.toml --scheme {} --seed {} --seeds 1{}",
                            point.scheme,
                            point.seed,
                            sets.collect::<String>()
                        ),
                    });
                }
            }
        }
    }

    fn add_rows(&mut self, scenario: &Scenario, values: &[Vec<Vec<f64>>]) {
        let seeds = scenario.seeds() as usize;
        for (points, values) in scenario.points().chunks(seeds).zip(values) {
            let set = points[0].set.iter();
            let set = set.filter(|(key, _)| self.axes.contains(key));
            let parts = &METRICS[METRICS.len() - 16..];
            let estimates = METRICS.iter().zip(values).filter(|(column, values)| {
                // Results leave out parts that were not measured, and rounds, shared buffers and faults if there are
                // none.
                let is_part = parts.iter().any(|part| part.name == column.name);
                let kinds = [is_of_rounds, is_of_shared_buffers, is_of_faults];
                let may_lack = is_part || kinds.iter().any(|is_of| is_of(column.name));
                !may_lack || values.iter().any(|value| !value.is_nan())
            });
            let estimates = estimates.map(|(column, values)| {
                let estimate = estimate(column.name, values.iter().copied());
                (column.name.to_owned(), estimate)
            });
            self.rows.push(Row {
                set: set.cloned().collect(),
                scheme: points[0].scheme.clone(),
                points: points.iter().map(|point| index(point.index)).collect(),
                metrics: estimates.collect(),
                waits: Some(Waits::of(&points[0])),
                marking: points[0].groups.iter().find_map(plan::Group::marking),
                lose: chosen_losses(&points[0]),
                groups: IndexMap::new(),
                tiers: Vec::new(),
                collectives: Vec::new(),
            });
        }
    }
}

/// The losses that a point chooses between its switches, as in its settings.
fn chosen_losses(point: &PointSpec) -> Option<String> {
    let chosen = !point.keys.bottleneck.lose.0.is_empty();
    let group = point.groups.first().filter(|_| chosen)?;
    Some(group.texts["bottleneck.lose"].to_string())
}

/// The profile, unless it is swept; if flows have different profiles, all of them.
fn profile(scenario: &Scenario) -> Option<(String, String)> {
    const KEY: &str = "tcp.profile";
    if scenario.set_keys().contains(&KEY) {
        return None;
    }
    let points = scenario.points().iter();
    let groups = points.flat_map(|point| point.groups.iter());
    let mut found: Vec<&str> = Vec::new();
    for group in groups {
        let profile = &group.texts[KEY];
        if !found.contains(&profile) {
            found.push(profile);
        }
    }
    Some((KEY.to_owned(), found.join(", ")))
}

/// By group and metric, over the seeds that have results.
fn group_estimates(groups: &Groups) -> IndexMap<String, IndexMap<String, Estimate>> {
    let estimates = groups.iter().map(|(group, metrics)| {
        // Groups also lack these metrics in networks without shared buffers or faults.
        let known = metrics.iter().filter(|(name, values)| {
            let may_lack = is_of_shared_buffers(name) || is_of_faults(name);
            !may_lack || values.iter().any(|value| !value.is_nan())
        });
        let metrics = known.map(|(name, values)| {
            let estimate = estimate(name, values.iter().copied());
            ((*name).to_owned(), estimate)
        });
        (group.clone(), metrics.collect())
    });
    estimates.collect()
}

/// The mean of a metric over seeds, within the range of the metric: not negative, and at most 1 for an index of
/// fairness.
fn estimate(metric: &str, values: impl IntoIterator<Item = f64>) -> Estimate {
    let most = match metric {
        "fairness" => 1.0,
        _ => f64::INFINITY,
    };
    Estimate::of(values).between(0.0, most)
}

/// The items whose group is chosen. Each `size` consecutive items are a group.
fn kept<T>(things: Vec<T>, size: usize, chosen: &[bool]) -> Vec<T> {
    let things = things.into_iter().enumerate();
    let kept = things.filter_map(|(place, thing)| chosen[place / size].then_some(thing));
    kept.collect()
}

/// For each metric the values of all seeds; `NaN` for a failed seed.
fn columns(seeds: &[Result<PointResult, String>]) -> Vec<Vec<f64>> {
    let rows = seeds.iter().map(|result| match result {
        Ok(result) => metric_values(&result.metrics),
        Err(_) => vec![f64::NAN; METRICS.len()],
    });
    let rows: Vec<_> = rows.collect();
    let column = |index| rows.iter().map(|row| row[index]).collect();
    (0..METRICS.len()).map(column).collect()
}

fn index(index: usize) -> u32 {
    u32::try_from(index).expect("points have 32-bit numbers")
}
