//! Shows how far results depend on the order of simultaneous events: repeats the sweep without jitter, under several
//! orders.
//!
//! If no link has jitter and nothing else is random, packets of several senders reach a switch at the same picosecond,
//! and the order of events decides which of them find room. A result that changes with this order says nothing about a
//! network.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::row::Row;

/// The setting whose values are the orders.
pub const ORDER: &str = "run.tie_order";
/// The setting that is "0s" under all orders.
pub const JITTER: &str = "link.jitter";

/// Results of a sweep under several orders of simultaneous events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ties {
    /// How many orders.
    pub orders: u32,
    /// For each row of the sweep, its metrics by name, with a value for each order.
    pub rows: Vec<IndexMap<String, Vec<f64>>>,
}

impl Ties {
    /// Matches the rows of a sweep over [`ORDER`] with the rows of the sweep without it. O(rows of both × rows).
    pub fn new(of: &[Row], under_orders: &[Row]) -> Self {
        let rows: Vec<_> = of
            .iter()
            .map(|row| {
                let mut values = IndexMap::<String, Vec<f64>>::new();
                let same = |other: &&Row| other.scheme == row.scheme && without_order(other, row);
                for other in under_orders.iter().filter(same) {
                    for (metric, estimate) in &other.metrics {
                        let all = values.entry(metric.clone()).or_default();
                        all.extend(estimate.mean);
                    }
                }
                values
            })
            .collect();
        let orders = under_orders.len() / of.len().max(1);
        Self {
            orders: u32::try_from(orders).unwrap_or(u32::MAX),
            rows,
        }
    }

    /// The least and the greatest value of a metric of a row, if it has a value under every order.
    pub fn range(&self, row: usize, metric: &str) -> Option<(f64, f64)> {
        let values = self.values(row, metric)?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some((least, greatest))
    }

    /// The values of a metric of a row, one for each order; `None` if an order has no value.
    pub fn values(&self, row: usize, metric: &str) -> Option<&[f64]> {
        let values = self.rows.get(row)?.get(metric)?;
        (values.len() == self.orders as usize).then_some(values)
    }
}

/// Whether the settings of a row under an order are those of `row`.
fn without_order(other: &Row, row: &Row) -> bool {
    let is_own = |(key, _): &&(String, String)| key != ORDER && key != JITTER;
    other
        .set
        .iter()
        .filter(is_own)
        .eq(row.set.iter().filter(is_own))
}

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Scenario, Source};

    use super::*;
    use crate::point_result::PointResult;
    use crate::summary::Summary;

    /// The results of every point of a scenario.
    fn summary(sets: &[&str]) -> Summary {
        let overrides = Overrides {
            schemes: Some("newreno,rcc".to_owned()),
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        let text = "[workload]\nsenders = [4, 30]\nsize = \"32KiB\"\n";
        let scenario = Scenario::load(Source::new("my.toml", text), &overrides).unwrap();
        let results = scenario.points().iter().map(|point| {
            let outcome = sim::run::run(point).map_err(|error| error.to_string())?;
            Ok(PointResult::from(&outcome))
        });
        Summary::new(&scenario, &results.collect())
    }

    #[test]
    fn each_row_has_a_value_for_each_order_and_those_of_its_own_settings() {
        let whole = summary(&["link.jitter=auto"]);
        let orders = summary(&["link.jitter=0s", "run.tie_order=1,2,3"]);
        let ties = Ties::new(&whole.rows, &orders.rows);
        assert_eq!((ties.orders, ties.rows.len()), (3, 4));
        for (number, row) in whole.rows.iter().enumerate() {
            // Without randomness and losses, the order changes nothing. Times grow with the number of senders in any
            // case.
            let (least, greatest) = ties.range(number, "fct_p99_us").unwrap();
            let p99 = row.value("fct_p99_us");
            assert!(
                least <= greatest && (0.5..2.0).contains(&(p99 / least)),
                "{number}"
            );
        }
        assert_eq!(ties.range(0, "no metric"), None);
    }
}
