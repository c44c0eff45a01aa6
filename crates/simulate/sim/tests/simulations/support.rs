//! Points of scenarios, for tests that simulate.

use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use sim::metrics::Outcome;
use sim::run;

/// Points of `"incast"` or `"long-flows"` with the papers' TCP, or of TOML text, for `schemes` with settings
/// `KEY=VALUE` on top.
pub(crate) fn points(scenario: &str, schemes: &str, sets: &[&str]) -> Vec<PointSpec> {
    let text = match scenario {
        "incast" => include_str!("scenarios/incast.toml"),
        "long-flows" => include_str!("scenarios/long-flows.toml"),
        text => text,
    };
    let source = Source::new("test.toml", text);
    let overrides = Overrides {
        schemes: Some(schemes.to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    let scenario = Scenario::load(source, &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems:?}"));
    scenario.points().to_vec()
}

/// The outcome of the only point of such a scenario. Every run checks that bytes and packets are conserved.
pub(crate) fn outcome(scenario: &str, scheme: &str, sets: &[&str]) -> Outcome {
    let points = points(scenario, scheme, sets);
    assert_eq!(points.len(), 1, "a single point");
    run::run(&points[0]).expect("a conserving run")
}
