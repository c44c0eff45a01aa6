//! The estimate of work is near the actual work of simulations, and admits all that papers need.

use claims::catalogue;
use plan::PointSpec;
use plan::work::Work;
use scenario::limits::{self, MOST_STEPS};
use scenario::{Overrides, Scenario};

use crate::support::{outcome, points};

#[test]
fn the_estimate_is_near_the_steps_that_simulations_take() {
    for sets in [
        &["workload.senders=10"] as &[&str],
        &["workload.senders=200", "workload.size=100KB"],
        &[
            "topology.kind=dumbbell",
            "workload.kind=pairs",
            "workload.size=1MB",
        ],
        &[
            "topology.kind=dumbbell",
            "workload.kind=pairs",
            "workload.size=unlimited",
            "run.duration=100ms",
        ],
        &[
            "topology.kind=fat-tree",
            "workload.kind=burst",
            "workload.size=exponential(20KB)",
        ],
        &[
            "workload.kind=requests",
            "workload.connections=20",
            "workload.requests=5",
        ],
        &[
            "workload.kind=poisson",
            "topology.hosts=10",
            "workload.size=exponential(100KB)",
            "workload.duration=50ms",
        ],
        &["workload.size=unlimited", "run.duration=100ms"],
        &[
            "workload.rounds=5",
            "workload.epochs=2",
            "workload.epoch_interval=100ms",
        ],
    ] {
        let sets = match sets {
            [first, ..] if first.starts_with("workload.senders") => sets.to_vec(),
            _ => [&["workload.senders=40"], sets].concat(),
        };
        let point = &points("incast", "newreno", &sets)[0];
        let estimated = Work::of(point, false).steps();
        let events = outcome("incast", "newreno", &sets).cost.packet_hops;
        let ratio = estimated / base::cast::real(events);
        // Handshakes, retransmissions and idle links make the difference.
        assert!(
            (0.6..12.0).contains(&ratio),
            "{sets:?}: {estimated} for {events}"
        );
    }
}

#[test]
fn every_figure_of_a_paper_is_admitted_at_full_scale() {
    let mut admitted = 0;
    for selection in catalogue::find(&[]).expect("the papers are correct") {
        for figure in &selection.paper.experiments {
            if figure.runs() != figure.name {
                continue;
            }
            let sets = figure.full.set.iter();
            let overrides = Overrides {
                sets: sets.map(|(key, value)| format!("{key}={value}")).collect(),
                ..Overrides::default()
            };
            let scenario = Scenario::load(figure.source.clone(), &overrides);
            let scenario = scenario.expect("figures are correct");
            let points: Vec<&PointSpec> = scenario.points().iter().collect();
            let checked = limits::check_steps(&points, true, MOST_STEPS);
            assert!(checked.is_ok(), "{}: {}", figure.name, checked.unwrap_err());
            admitted += 1;
        }
    }
    assert!(admitted > 20, "{admitted}");
}
