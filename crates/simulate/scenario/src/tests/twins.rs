use crate::{Overrides, Scenario, Source};
use plan::PointSpec;

fn points(schemes: &str, sets: &[&str]) -> Vec<PointSpec> {
    let overrides = Overrides {
        schemes: Some(schemes.to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("test.toml", "seeds = 1\n"), &overrides);
    scenario.unwrap().points().to_vec()
}

/// Whether the two values of an axis give the same simulation.
fn same(schemes: &str, set: &str) -> bool {
    let points = points(schemes, &[set]);
    assert_eq!(points.len(), 2);
    points[0].essence() == points[1].essence()
}

#[test]
fn a_scheme_does_not_see_the_settings_of_another() {
    assert!(same("newreno", "dctcp.g=0.0625,0.125"));
    assert!(!same("dctcp", "dctcp.g=0.0625,0.125"));
    assert!(!same("dctcp+rwndq", "rwndq.interval=50us,100us"));
    assert!(!same("newreno", "tcp.min_rto=1ms,10ms"));
    assert!(!same("newreno", "switch.ecn_threshold=20pkt,40pkt"));
}

#[test]
fn schemes_and_seeds_are_never_the_same() {
    let points = points("newreno,cubic", &["workload.jitter=1us"]);
    assert_ne!(points[0].essence(), points[1].essence());
    let again = PointSpec {
        seed: 2,
        ..points[0].clone()
    };
    assert_ne!(points[0].essence(), again.essence());
}
